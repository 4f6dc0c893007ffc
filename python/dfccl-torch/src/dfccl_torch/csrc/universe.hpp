#pragma once
#include <c10/core/Device.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "world.hpp"

namespace dfccl_torch {

/// The worlds that the same ranks share: one of their CPUs, and one of their GPUs where they use any.
class Universe {
 public:
  using Store = c10::intrusive_ptr<c10d::Store>;

  /// Waits until all ranks have come.
  /// @param job the same name in all its processes, and in no other job's.
  /// @param store through which all these ranks may tell each other things.
  /// @param meeting where they are on several machines.
  Universe(const std::string& job, int rank, int ranks, std::chrono::milliseconds timeout, Store store,
           Meeting meeting);

  const std::string& job() const { return job_; }
  const Store& store() const { return store_; }
  const std::shared_ptr<World>& onCpu() const { return cpu_; }
  /// The first call waits until all ranks have made theirs, each with its own GPU: only they know which that is.
  /// @throws DistBackendError where the ranks don't come, or this one has joined with another GPU.
  std::shared_ptr<World> onGpu(c10::Device device);
  /// Whether collectives may be kernels in streams, on all ranks: see in_streams.hpp. @pre onGpu()
  bool runsInStreams() const { return runsInStreams_; }
  /// The GPU that this rank has joined with.
  std::optional<c10::Device> gpu() const;

 private:
  std::vector<int> exchangeDevices(c10::Device mine);

  const std::string job_;
  const int rank_;
  const int ranks_;
  const std::chrono::milliseconds timeout_;
  const Store store_;
  const Meeting meeting_;
  const std::shared_ptr<World> cpu_;
  mutable std::mutex mutex_;  // never held while a rank waits
  std::mutex joining_;
  std::shared_ptr<World> gpu_;
  c10::Device device_{c10::kCPU};
  bool runsInStreams_ = false;
};

/// The universe of all ranks, which the groups of a program share; null before the first of them, and after the last.
std::shared_ptr<Universe> sharedUniverse();
void shareUniverse(const std::shared_ptr<Universe>& universe);

}  // namespace dfccl_torch
