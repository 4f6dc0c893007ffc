#pragma once
// Messages between ranks, each of which has a stream and a buffer for each direction.
#include "large_runs.hpp"

namespace dfccl::gpu::test {

struct Mailbag {
  explicit Mailbag(const GpuRanks& ranks, size_t count = kLargeCount) {
    for (int r = 0; r < ranks.size(); ++r) {
      streams.emplace_back(ranks.device(r));
      send.emplace_back(ranks.device(r), count);
      recv.emplace_back(ranks.device(r), count);
    }
  }
  cudaStream_t stream(int rank) const { return streams[static_cast<size_t>(rank)]; }
  int32_t* from(int rank) const { return send[static_cast<size_t>(rank)].data(); }
  int32_t* to(int rank) const { return recv[static_cast<size_t>(rank)].data(); }
  void fill(int rank, int round) const {
    const DeviceArray<int32_t>& mine = send[static_cast<size_t>(rank)];
    std::vector<int32_t> values(kLargeCount);
    for (size_t i = 0; i < values.size(); ++i) values[i] = inputOf(rank, i) + round;
    mine.set(values);
    recv[static_cast<size_t>(rank)].set(std::vector<int32_t>(kLargeCount, -1));
  }
  /// Whether a rank has got what another sent in a round, and nothing behind it.
  bool hasGot(int rank, int sender, size_t count, int round) const {
    const std::vector<int32_t> got = recv[static_cast<size_t>(rank)].get();
    for (size_t i = 0; i < got.size(); ++i) {
      if (got[i] != (i < count ? inputOf(sender, i) + round : -1)) return false;
    }
    return true;
  }
  void synchronize() const {
    for (const Stream& each : streams) CHECK(each.synchronize());
  }

  std::vector<Stream> streams;
  std::vector<DeviceArray<int32_t>> send, recv;
};

inline dfcclResult_t send(const Mailbag& bag, int rank, int to, size_t count, dfcclGroup_t group) {
  return dfcclSend(bag.from(rank), count, dfcclInt32, to, group, 0, bag.stream(rank), nullptr);
}
inline dfcclResult_t receive(const Mailbag& bag, int rank, int from, size_t count, dfcclGroup_t group) {
  return dfcclRecv(bag.to(rank), count, dfcclInt32, from, group, 0, bag.stream(rank), nullptr);
}

}  // namespace dfccl::gpu::test
