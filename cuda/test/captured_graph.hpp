#pragma once
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <utility>

namespace dfccl::gpu::test {

/// What a stream captures while `record` runs, ready to be launched.
class Graph {
 public:
  template <class Record>
  Graph(int device, cudaStream_t stream, const Record& record, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal)
      : device_(device) {
    cudaSetDevice(device);
    REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
    record();
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&made_, graph, 0) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  }
  ~Graph() {
    if (made_ == nullptr) return;
    cudaSetDevice(device_);
    cudaGraphExecDestroy(made_);
  }
  Graph(Graph&& other) noexcept : device_(other.device_), made_(std::exchange(other.made_, nullptr)) {}
  Graph& operator=(Graph&&) = delete;

  void launch(cudaStream_t stream) const {
    cudaSetDevice(device_);
    REQUIRE(cudaGraphLaunch(made_, stream) == cudaSuccess);
  }

 private:
  int device_;
  cudaGraphExec_t made_ = nullptr;
};

}  // namespace dfccl::gpu::test
