#pragma once
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace dfccl::gpu::test {

/// What a stream captures while `record` runs, ready to be launched.
class Graph {
 public:
  template <class Record>
  Graph(int device, cudaStream_t stream, const Record& record, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal)
      : device_(device) {
    cudaGraph_t const graph = captured(device, stream, record, mode);
    REQUIRE(cudaGraphInstantiate(&made_, graph, 0) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  }
  /// Two of what is captured once.
  template <class Record>
  static std::vector<Graph> twice(int device, cudaStream_t stream, const Record& record) {
    cudaGraph_t const graph = captured(device, stream, record, cudaStreamCaptureModeGlobal);
    std::vector<Graph> both;
    for (int i = 0; i < 2; ++i) {
      cudaGraphExec_t made = nullptr;
      REQUIRE(cudaGraphInstantiate(&made, graph, 0) == cudaSuccess);
      both.push_back(Graph(device, made));
    }
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
    return both;
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
  Graph(int device, cudaGraphExec_t made) : device_(device), made_(made) {}

  template <class Record>
  static cudaGraph_t captured(int device, cudaStream_t stream, const Record& record, cudaStreamCaptureMode mode) {
    cudaSetDevice(device);
    REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
    record();
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    return graph;
  }

  int device_;
  cudaGraphExec_t made_ = nullptr;
};

}  // namespace dfccl::gpu::test
