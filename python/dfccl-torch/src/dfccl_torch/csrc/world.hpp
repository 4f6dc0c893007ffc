#pragma once
#include <dfccl/dfccl.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "meeting.hpp"

namespace dfccl_torch {

/// This process's rank in a dfccl world.
class World {
 public:
  /// Waits until all ranks have come.
  /// @param job the same name in all its processes, and in no other job's.
  /// @param devices the GPU of each rank; empty: ranks are on CPUs.
  /// @param meeting where the ranks are on several machines. @param store all of them have it
  World(const std::string& job, int rank, int ranks, const std::vector<int>& devices, std::chrono::milliseconds timeout,
        const Meeting& meeting, c10d::Store& store);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  dfcclRankCtx_t ctx() const { return ctx_; }
  /// Ranks whose processes have ended without a word, or are mute.
  std::vector<int> lostRanks() const;

 private:
  /// What this rank does and waits for, in words.
  std::string describe() const;
  friend std::string describeWorlds();

  dfcclWorld_t world_ = nullptr;
  dfcclRankCtx_t ctx_ = nullptr;
  pid_t process_;
};

/// Of every world that this process is in.
std::string describeWorlds();

}  // namespace dfccl_torch
