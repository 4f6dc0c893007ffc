#pragma once
#include <c10/core/Device.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "group.hpp"
#include "universe.hpp"

namespace dfccl_torch {

/// A process group's members in each of its universe's worlds.
class Membership {
 public:
  /// Waits for nobody. @param name tells groups of the same ranks apart, and is the same on all of them.
  Membership(std::shared_ptr<Universe> universe, std::vector<int> worldRanks, std::string name);

  const std::string& name() const { return name_; }
  const std::shared_ptr<Group>& onCpu() const { return cpu_; }
  const std::shared_ptr<World>& cpuWorld() const { return universe_->onCpu(); }
  /// The first on a GPU of all groups' waits for the other ranks: Universe::onGpu.
  /// @throws DistBackendError where the device is neither a CPU nor a GPU that can be used.
  std::shared_ptr<Group> on(c10::Device device);
  /// The same, or the same ranks for collectives that are kernels in streams, where this one is to be such.
  std::shared_ptr<Group> forCollective(c10::Device device);
  /// The GPU that this rank's operations are on; none before the first.
  std::optional<c10::Device> gpu() const { return universe_->gpu(); }
  /// Gives up what is in flight, on all ranks, and does not wait.
  void abort();

 private:
  std::shared_ptr<Group> made(const std::shared_ptr<World>& world, std::optional<c10::Stream> own = std::nullopt) const;
  /// One that abort() may have come before. Under the lock.
  std::shared_ptr<Group> madeLate(const std::shared_ptr<World>& world,
                                  std::optional<c10::Stream> own = std::nullopt) const;

  const std::shared_ptr<Universe> universe_;
  const std::vector<int> worldRanks_;
  const std::string name_;
  const std::shared_ptr<const Positions> positions_;
  const std::shared_ptr<GivenUp> givenUp_;
  const std::shared_ptr<Group> cpu_;
  std::mutex mutex_;
  std::shared_ptr<Group> gpu_;
  std::shared_ptr<Group> inStreams_;
  bool isAborted_ = false;
};

}  // namespace dfccl_torch
