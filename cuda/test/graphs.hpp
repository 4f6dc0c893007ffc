#pragma once
// Graphs that a test captures, and launches.
#include <utility>

#include "streams.hpp"

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

using Values = std::vector<int32_t>;

/// One rank's graph of a collective, with its buffers.
struct Captured {
  Captured(int device, size_t sent, size_t received) : send(device, sent), recv(device, received), stream(device) {}
  DeviceArray<int32_t> send, recv;
  Stream stream;
  std::vector<Graph> graph;
};

/// A graph that finds the greatest of the ranks' values, in place, several times, in registered collectives.
inline constexpr int kChain = 20;
inline Graph captureChain(const GpuRanks& ranks, int r, const std::vector<int>& ids, const DeviceArray<int32_t>& buffer,
                          cudaStream_t stream) {
  return Graph(ranks.device(r), stream, [&] {
    for (int i = 0; i < kChain; ++i) {
      const int id = ids[static_cast<size_t>(i) % ids.size()];
      CHECK_OK(dfcclRunOnStream(buffer.data(), buffer.data(), id, stream, nullptr, nullptr, ranks[r]));
      CHECK_OK(dfcclWaitOnStream(id, stream, ranks[r]));
    }
  });
}

/// The greatest of the ranks' numbers.
inline void registerOnAll(const GpuRanks& ranks, int id, size_t count) {
  for (int r = 0; r < ranks.size(); ++r) {
    CHECK_OK(dfcclRegisterAllReduce(count, dfcclInt32, dfcclMax, id, dfcclAllRanks(), 0, ranks[r]));
  }
}

}  // namespace dfccl::gpu::test
