#pragma once
#include <c10/core/Stream.h>
#include <dfccl/dfccl.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "positions.hpp"
#include "world.hpp"

namespace dfccl_torch {

/// That something of a process group was given up for which nobody waited on the host. Any thread.
class GivenUp {
 public:
  /// The first stays.
  void note(const std::string& what);
  /// What was noted, once; empty: nothing.
  std::string take();

 private:
  std::atomic<bool> isAny_{false};
  std::mutex mutex_;
  std::string what_;
};

/// This rank's membership in a group of a world's ranks; what is in flight in it keeps it.
class Group {
 public:
  /// Waits for nobody.
  /// @param name tells groups of the same ranks apart, and is the same on all of them.
  /// @param positions through which its members compare what they have issued.
  /// @param own the stream of runs that are kernels in streams, where they are in no stream of the caller's; none:
  /// runs are the daemon's. See in_streams.hpp.
  Group(std::shared_ptr<World> world, const std::vector<int>& worldRanks, const std::string& name,
        std::shared_ptr<const Positions> positions, std::shared_ptr<GivenUp> givenUp,
        std::optional<c10::Stream> own = std::nullopt);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  dfcclGroup_t handle() const { return handle_; }
  const std::string& name() const { return name_; }
  const std::shared_ptr<const Positions>& positions() const { return positions_; }
  /// None: its runs are the daemon's.
  const std::optional<c10::Stream>& ownStream() const { return own_; }
  /// This process's.
  int worldRank() const;
  /// Why runs of it end without a result, in words, and what to do: who of its members is gone, or that it was ended.
  std::string whyGivenUp() const;
  /// Or of the one that this is a fork of, whose runs are not this one's to wait for or to end.
  bool isOfThisProcess() const;
  /// Something was given up for which nobody waits on the host, so nobody was told: maybe a stream waited for it, and
  /// was let go, because a member is gone. Any thread.
  void noteGivenUp(const char* what, const std::string& reason);
  /// @throws DistBackendError where that was noted, once.
  void tellGivenUp();

 private:
  std::shared_ptr<World> world_;
  const std::vector<int> worldRanks_;
  std::string name_;
  const std::shared_ptr<const Positions> positions_;
  const std::shared_ptr<GivenUp> givenUp_;
  std::optional<c10::Stream> own_;
  dfcclGroup_t handle_ = nullptr;
  pid_t process_;
};

}  // namespace dfccl_torch
