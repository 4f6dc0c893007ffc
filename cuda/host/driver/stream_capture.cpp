#include "host/driver/stream_capture.hpp"

#include <utility>

#include "host/driver/check.hpp"

namespace dfccl::gpu {
namespace {

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
}

void StreamCapture::letWait(cudaGraphNode_t node) const {
#if CUDART_VERSION >= 13000
  DFCCL_CUDA(cudaStreamUpdateCaptureDependencies(stream_, &node, nullptr, 1, cudaStreamAddCaptureDependencies));
#else
  DFCCL_CUDA(cudaStreamUpdateCaptureDependencies(stream_, &node, 1, cudaStreamAddCaptureDependencies));
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
