#include "host/driver/stream_capture.hpp"

#include <algorithm>
#include <utility>

#include "host/driver/check.hpp"

namespace dfccl::gpu {
namespace {

/// What a node is directly behind.
std::vector<cudaGraphNode_t> nodesBefore(cudaGraphNode_t node) {
  size_t count = 0;
  std::vector<cudaGraphNode_t> nodes;
#if CUDART_VERSION >= 13000
  std::vector<cudaGraphEdgeData> edges;  // asked for, so that those of a special kind are no error
  DFCCL_CUDA(cudaGraphNodeGetDependencies(node, nullptr, nullptr, &count));
  nodes.resize(count);
  edges.resize(count);
  if (count != 0) DFCCL_CUDA(cudaGraphNodeGetDependencies(node, nodes.data(), edges.data(), &count));
#elif CUDART_VERSION >= 12030
  std::vector<cudaGraphEdgeData> edges;
  DFCCL_CUDA(cudaGraphNodeGetDependencies_v2(node, nullptr, nullptr, &count));
  nodes.resize(count);
  edges.resize(count);
  if (count != 0) DFCCL_CUDA(cudaGraphNodeGetDependencies_v2(node, nodes.data(), edges.data(), &count));
#else
  DFCCL_CUDA(cudaGraphNodeGetDependencies(node, nullptr, &count));
  nodes.resize(count);
  if (count != 0) DFCCL_CUDA(cudaGraphNodeGetDependencies(node, nodes.data(), &count));
#endif
  return nodes;
}

bool contains(const std::vector<cudaGraphNode_t>& nodes, cudaGraphNode_t node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

void letGo(void* kept) { delete static_cast<std::shared_ptr<const void>*>(kept); }

}  // namespace

StreamCapture::StreamCapture(cudaStream_t stream) : stream_(stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* nodes = nullptr;
  size_t count = 0;
#if CUDART_VERSION >= 12030
  // Asked for, so that edges of a special kind, which this library's nodes don't need, are no error.
  const cudaGraphEdgeData* edges = nullptr;
#if CUDART_VERSION >= 13000
  const cudaError_t error = cudaStreamGetCaptureInfo(stream, &status, &id_, &graph_, &nodes, &edges, &count);
#else
  const cudaError_t error = cudaStreamGetCaptureInfo_v3(stream, &status, &id_, &graph_, &nodes, &edges, &count);
#endif
#else
  const cudaError_t error = cudaStreamGetCaptureInfo_v2(stream, &status, &id_, &graph_, &nodes, &count);
#endif
  if (error != cudaSuccess) cudaGetLastError();  // an earlier one is the caller's
  if (error != cudaSuccess || status != cudaStreamCaptureStatusActive) {
    throw Error(dfcclInvalidArgument,
                error != cudaSuccess
                    ? std::string("The stream's capture can't be added to: ") + cudaGetErrorString(error) + "."
                : status == cudaStreamCaptureStatusInvalidated
                    ? "The stream's capture has failed: some call before this one is not allowed in it."
                    : "The stream captures no graph, and the run is one of a graph's.",
                "Begin a capture of the stream, and call this within it.");
  }
  behind_.assign(nodes, nodes + count);
  edges_.resize(count);
#if CUDART_VERSION >= 12030
  if (edges != nullptr) edges_.assign(edges, edges + count);
#endif
}

bool StreamCapture::isBehind(cudaGraphNode_t node) const {
  // A line from one run to the next has some nodes; where there are more, an edge too many does no harm but takes time.
  constexpr size_t kMostLooks = 64;
  std::vector<cudaGraphNode_t> found = behind_;
  for (size_t i = 0; i < found.size() && i < kMostLooks; ++i) {
    if (found[i] == node) return true;
    for (const cudaGraphNode_t before : nodesBefore(found[i])) {
      if (!contains(found, before)) found.push_back(before);
    }
  }
  return false;
}

/// What the node comes behind isn't waited for beside it: an edge too many makes a fork and a join of what is a line,
/// which a device takes longer to pass.
void StreamCapture::letWait(cudaGraphNode_t node) const {
  const std::vector<cudaGraphNode_t> before = nodesBefore(node);
  std::vector<cudaGraphNode_t> nodes{node};
  std::vector<cudaGraphEdgeData> edges(1);
  for (size_t i = 0; i < behind_.size(); ++i) {
    if (behind_[i] == node || contains(before, behind_[i])) continue;
    nodes.push_back(behind_[i]);
    edges.push_back(edges_[i]);
  }
#if CUDART_VERSION >= 13000
  DFCCL_CUDA(cudaStreamUpdateCaptureDependencies(stream_, nodes.data(), edges.data(), nodes.size(),
                                                 cudaStreamSetCaptureDependencies));
#elif CUDART_VERSION >= 12030
  DFCCL_CUDA(cudaStreamUpdateCaptureDependencies_v2(stream_, nodes.data(), edges.data(), nodes.size(),
                                                    cudaStreamSetCaptureDependencies));
#else
  DFCCL_CUDA(
      cudaStreamUpdateCaptureDependencies(stream_, nodes.data(), nodes.size(), cudaStreamSetCaptureDependencies));
#endif
}

void StreamCapture::keep(std::shared_ptr<const void> kept) const {
  auto payload = std::make_unique<std::shared_ptr<const void>>(std::move(kept));
  cudaUserObject_t object = nullptr;
  DFCCL_CUDA(cudaUserObjectCreate(&object, payload.get(), letGo, 1, cudaUserObjectNoDestructorSync));
  payload.release();
  DFCCL_CUDA(cudaGraphRetainUserObject(graph_, object, 1, cudaGraphUserObjectMove));
}

}  // namespace dfccl::gpu
