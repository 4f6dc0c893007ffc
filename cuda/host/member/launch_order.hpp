#pragma once
// The order of graphs that have runs of the same collective of a rank: that of their launches, whatever streams they
// are launched on. Runs match by their order, so two launches that are under way at once must not mix.
#include <cuda_runtime_api.h>

namespace dfccl::gpu {

/// A launch waits for an event that the launch before it records: two nodes of each graph, which stand outside of the
/// runs' way. Which record a wait is for, CUDA decides when the graph is launched.
class LaunchOrder {
 public:
  /// @param over is recorded and awaited by these graphs alone, and stays as long as they do.
  explicit LaunchOrder(cudaEvent_t over) : over_(over) {}

  /// Adds what the graph's first run comes behind. @throws Error dfcclSystemError; here and below
  cudaGraphNode_t addWait(cudaGraph_t graph) const;
  /// Adds what comes behind the graph's last run.
  cudaGraphNode_t addRecord(cudaGraph_t graph, cudaGraphNode_t last) const;
  /// Another run is the last one. @pre it comes behind the one that was
  static void putRecordBehind(cudaGraph_t graph, cudaGraphNode_t record, cudaGraphNode_t was, cudaGraphNode_t last);

 private:
  const cudaEvent_t over_;
};

}  // namespace dfccl::gpu
