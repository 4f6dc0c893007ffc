#pragma once
// Graphs that a test captures, and launches.
#include <utility>

#include "captured_graph.hpp"
#include "streams.hpp"

namespace dfccl::gpu::test {

using Values = std::vector<int32_t>;

/// A graph that is the first work of its stream might run behind another such one (decision 38).
/// @param memory the device's, of which a byte is written
inline void giveFirstWork(const Stream& stream, void* memory) {
  REQUIRE(cudaMemsetAsync(memory, 0, 1, stream) == cudaSuccess);
  REQUIRE(stream.synchronize());
}

/// One rank's graph of a collective, with its buffers.
struct Captured {
  Captured(int device, size_t sent, size_t received) : send(device, sent), recv(device, received), stream(device) {
    giveFirstWork(stream, recv.data());
  }
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
