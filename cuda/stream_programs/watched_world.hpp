#pragma once
#include <sys/types.h>

#include <chrono>
#include <vector>

#include "network/support/own_port.hpp"
#include "stream_programs/world_process.hpp"

namespace dfccl::gpu::programs {

/// The processes of one world, watched by the one that starts them and that never uses CUDA. None outlives it.
class WatchedWorld {
 public:
  WatchedWorld(const WorldPlan& plan, const Options& options, SharedPage& page);
  ~WatchedWorld();
  WatchedWorld(const WatchedWorld&) = delete;
  WatchedWorld& operator=(const WatchedWorld&) = delete;

  /// Until all have ended, or nothing has moved for too long. @return kGood, kWrong, kError or kHang
  int await();

 private:
  using Clock = std::chrono::steady_clock;

  void start(uint32_t process);
  uint64_t moves() const;
  /// Flight records, where they are asked for, and where each rank is.
  void tellOfHang() const;
  void runOnHang() const;
  void killAll();

  const test::OwnPort port_;
  WorldPlan plan_;
  const Options& options_;
  SharedPage& page_;
  std::vector<pid_t> children_;  // 0: ended
};

}  // namespace dfccl::gpu::programs
