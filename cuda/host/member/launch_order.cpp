#include "host/member/launch_order.hpp"

#include "host/driver/check.hpp"

namespace dfccl::gpu {

cudaGraphNode_t LaunchOrder::addWait(cudaGraph_t graph) const {
  cudaGraphNode_t wait = nullptr;
  DFCCL_CUDA(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, over_));
  return wait;
}

cudaGraphNode_t LaunchOrder::addRecord(cudaGraph_t graph, cudaGraphNode_t last) const {
  cudaGraphNode_t record = nullptr;
  DFCCL_CUDA(cudaGraphAddEventRecordNode(&record, graph, &last, 1, over_));
  return record;
}

/// While a stream captures, edges of its graph may be taken away, nodes may not.
void LaunchOrder::putRecordBehind(cudaGraph_t graph, cudaGraphNode_t record, cudaGraphNode_t was,
                                  cudaGraphNode_t last) {
#if CUDART_VERSION >= 13000
  DFCCL_CUDA(cudaGraphAddDependencies(graph, &last, &record, nullptr, 1));
  DFCCL_CUDA(cudaGraphRemoveDependencies(graph, &was, &record, nullptr, 1));
#else
  DFCCL_CUDA(cudaGraphAddDependencies(graph, &last, &record, 1));
  DFCCL_CUDA(cudaGraphRemoveDependencies(graph, &was, &record, 1));
#endif
}

}  // namespace dfccl::gpu
