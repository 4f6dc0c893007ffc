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
  /// The first call waits until all ranks have told which GPU is theirs, as only they know: by this, or tellGpu().
  /// @throws DistBackendError where the ranks don't come, or this one has told another GPU.
  std::shared_ptr<World> onGpu(c10::Device device);
  /// Whether collectives may be kernels in streams, on all ranks: see in_streams.hpp. @pre onGpu()
  bool runsInStreams() const { return runsInStreams_; }
  /// The GPU that this rank has joined with.
  std::optional<c10::Device> gpu() const;

  // For a rank that has nothing to do on its GPU for long, while others wait for it in onGpu(): see gpu_call.py.

  /// Whether a rank waits there. Asks the store.
  bool isCalledToGpu() const;
  /// Tells the others this rank's GPU before it has an operation there; nothing where it has told one.
  void tellGpu(c10::Device device);
  /// Joins the others with the GPU that was told, if they all have told theirs. Waits for no rank that hasn't.
  /// @return whether this rank has joined.
  bool joinOnGpu();

 private:
  std::string gpuKey(const std::string& what) const { return "dfccl/" + job_ + "/gpu/" + what; }
  /// @throws DistBackendError where this rank has told another.
  void tell(c10::Device mine, bool isEarly);
  /// For what concerns GPUs: a store that waits is closed to all other threads that use it, in c10d, and a rank whose
  /// main thread waits there for another one's key must be able to answer that one.
  c10d::Store& gpuStore() const;
  bool areGpusKnown() const;
  void waitForGpus() const;
  [[noreturn]] void refuseLateGpus() const;
  std::vector<int> gpusOfAll();
  std::shared_ptr<World> join(c10::Device mine);

  const std::string job_;
  const int rank_;
  const int ranks_;
  const std::chrono::milliseconds timeout_;
  const Store store_;
  const Meeting meeting_;
  const std::shared_ptr<World> cpu_;
  mutable std::mutex mutex_;  // never held while a rank waits, or asks the store
  mutable std::once_flag cloning_;
  mutable Store gpuStore_;
  std::mutex telling_;
  std::mutex joining_;
  std::shared_ptr<World> gpu_;
  std::optional<c10::Device> told_;
  bool isToldEarly_ = false;
  bool runsInStreams_ = false;
};

/// The universe of all ranks, which the groups of a program share; null before the first of them, and after the last.
std::shared_ptr<Universe> sharedUniverse();
void shareUniverse(const std::shared_ptr<Universe>& universe);

}  // namespace dfccl_torch
