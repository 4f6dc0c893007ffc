#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <unordered_map>
#include <vector>

#include "buffered_sends.hpp"
#include "device_allocator.hpp"
#include "membership.hpp"
#include "work.hpp"

namespace dfccl_torch {

/// torch.distributed's backend "dfccl": operations on tensors of a CPU or a GPU, matched by what they are instead of by
/// their place. Each is queued and returns; none waits for another rank, but in wait(), and the first on a GPU. Any
/// number of threads may use a group.
class DfcclBackend final : public c10d::Backend {
 public:
  using Tensor = at::Tensor;
  using Tensors = std::vector<at::Tensor>;
  using Handle = c10::intrusive_ptr<c10d::Work>;

  DfcclBackend(std::shared_ptr<Universe> universe, const std::vector<int>& worldRanks, const std::string& name,
               int rank, std::chrono::milliseconds timeout);

  const std::string getBackendName() const override { return "dfccl"; }
  c10::intrusive_ptr<Options> getBackendOptions() override { return options_; }
  void setTimeout(std::chrono::milliseconds timeout) override { options_->timeout = timeout; }
  bool supportsCoalescing() const override { return true; }
  /// On a CPU, which torch gives no index.
  bool supportsTensorAlloc(c10::DeviceIndex index) override { return index < 0; }
  /// Of one dimension, in memory that all ranks reach, so that no collective copies it: DDP's buckets, FSDP's buffers.
  Tensor allocateTensor(long size, at::TensorOptions options) override;  // NOLINT: torch's signature
  /// Of GPUs' memory, for torch.cuda.MemPool. @throws DistBackendError without CUDA
  std::shared_ptr<c10::Allocator> getMemAllocator() override { return deviceAllocator(); }
  c10d::ErrorType getError() override { return c10d::ErrorType::SUCCESS; }
  void setSequenceNumberForGroup() override {}  // all begin at 0
  uint64_t getSequenceNumberForGroup() override { return sequence_; }
  /// Waits until what was sent from buffers has been received: the process may end after this.
  /// @throws DistBackendError where it isn't in time.
  void shutdown() override;
  /// Gives up what is in flight in the group, on all ranks, and does not wait.
  void abort() override { membership_.abort(); }

  Handle allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  /// Of one coordinate-format tensor on a CPU, SUM and AVG: the ranks' elements come together on all of them.
  Handle allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  Handle allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override;
  Handle broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  Handle reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  Handle allgather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  Handle _allgather_base(Tensor& output, Tensor& input, const c10d::AllgatherOptions& options) override;
  Handle allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                             const c10d::AllgatherOptions& options) override;
  Handle allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                         const c10d::AllgatherOptions& options) override;
  Handle gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& options) override;
  Handle scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ScatterOptions& options) override;
  Handle reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                        const c10d::ReduceScatterOptions& options) override;
  Handle _reduce_scatter_base(Tensor& output, Tensor& input, const c10d::ReduceScatterOptions& options) override;
  Handle reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                         const c10d::ReduceScatterOptions& options) override;
  Handle alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) override;
  Handle alltoall_base(Tensor& output, Tensor& input, std::vector<int64_t>& outputSplits,
                       std::vector<int64_t>& inputSplits, const c10d::AllToAllOptions& options) override;
  Handle send(Tensors& tensors, int peer, int tag) override;
  Handle recv(Tensors& tensors, int peer, int tag) override;
  /// On a CPU. Of two outstanding receives alike, the one that names the sender gets what comes.
  Handle recvAnysource(Tensors& tensors, int tag) override;
  Handle barrier(const c10d::BarrierOptions& options) override;
  /// The host waits until all ranks have come. @throws DistBackendError on every rank where one doesn't come in time:
  /// rank 0 names it, or with `waitAllRanks` all that are missing.
  void monitoredBarrier(const c10d::BarrierOptions& options, bool waitAllRanks) override;

  /// What this thread queues until endCoalescing() is begun at once, as ever, and waited for as one.
  void startCoalescing() override;
  Handle endCoalescing() override;

 private:
  class Operation;

  void addAllReduce(Operation& operation, Tensor& tensor, const c10d::ReduceOp& op);
  void addAllGather(Operation& operation, Tensors& outputs, const Tensor& input);
  void addAllGather(Operation& operation, Tensor& output, const Tensor& input);
  void addReduceScatter(Operation& operation, Tensor& output, const Tensor& dense, const c10d::ReduceOp& op);
  void addReduceScatter(Operation& operation, Tensor& output, const Tensors& inputs, const c10d::ReduceOp& op);
  Handle handOut(Handle work);
  /// @param source where a receive from any rank tells its sender.
  void noteListening(const Tensor& source);
  bool isListening();

  Membership membership_;
  const c10::intrusive_ptr<Options> options_;
  std::atomic<uint64_t> sequence_{0};
  std::mutex mutex_;
  /// What a thread has begun between startCoalescing and endCoalescing.
  struct Coalescing {
    std::vector<Handle> works;
    size_t lookAt = 1024;  // how many there are when those are let go that are over
  };
  std::unordered_map<std::thread::id, Coalescing> coalescing_;
  const std::shared_ptr<BufferedSends> buffered_;
  Tensors listening_;                              // where receives from any rank tell their senders
  std::unordered_map<uint64_t, uint64_t> sparse_;  // how many of a shape and a tag there were
};

}  // namespace dfccl_torch
