#pragma once
// The graph that a stream captures, as far as a library adds to it by itself: nodes behind what the stream has been
// given, which it needn't wait for, and waits for such nodes.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace dfccl::gpu {

#if CUDART_VERSION < 12030
/// As later versions have it: all edges are of one kind.
struct cudaGraphEdgeData {};
#endif

class StreamCapture {
 public:
  /// @throws Error dfcclInvalidArgument: the stream captures nothing, or its capture has failed.
  explicit StreamCapture(cudaStream_t stream);

  /// Of no other capture.
  uint64_t id() const { return id_; }
  cudaGraph_t graph() const { return graph_; }
  /// What the next node of the stream's would come behind.
  const std::vector<cudaGraphNode_t>& behind() const { return behind_; }
  /// Whether that comes behind a node, too, as far as it is found in a few looks. @throws Error dfcclSystemError
  bool isBehind(cudaGraphNode_t node) const;
  /// What the stream is given from now on comes behind this node, too. @throws Error dfcclSystemError
  void letWait(cudaGraphNode_t node) const;
  /// As long as there is the graph, or anything made of it, there is this. @throws Error dfcclSystemError
  void keep(std::shared_ptr<const void> kept) const;

 private:
  const cudaStream_t stream_;
  unsigned long long id_ = 0;
  cudaGraph_t graph_ = nullptr;
  std::vector<cudaGraphNode_t> behind_;
  std::vector<cudaGraphEdgeData> edges_;  // to them
};

}  // namespace dfccl::gpu
