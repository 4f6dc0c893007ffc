// Communicators in another order on each rank, with synchronizations: what hangs in NCCL.
#include <algorithm>
#include <numeric>
#include <random>

#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;

// Where three ranks share a device, these are more streams than the 8 hardware queues that CUDA makes by itself.
TEST_CASE("communicators in random orders on each rank, a stream each, synchronized at any time") {
  constexpr int kRanks = 3, kRounds = 40;
  constexpr size_t kComms = 5;
  std::vector<ncclUniqueId> ids;
  for (size_t c = 0; c < kComms; ++c) ids.push_back(newId());
  onRanks(kRanks, [&](int rank) {
    std::mt19937 random(static_cast<uint32_t>(rank));
    struct One {
      One(const ncclUniqueId& id, int rank, size_t count)
          : comm(id, kRanks, rank), count(count), send(count, static_cast<float>(rank + 1)), recv(count, 0) {}
      const Comm comm;
      const size_t count;
      const RankStream stream;
      const Buffer send, recv;
    };
    std::vector<std::unique_ptr<One>> all;
    for (size_t c = 0; c < kComms; ++c) {
      all.push_back(std::make_unique<One>(ids[c], rank, size_t{1} << (4 + 3 * c)));
    }
    std::vector<size_t> order(kComms);
    std::iota(order.begin(), order.end(), size_t{0});
    for (int round = 0; round < kRounds; ++round) {
      std::shuffle(order.begin(), order.end(), random);
      for (const size_t c : order) {
        One& one = *all[c];
        CHECK_NCCL(ncclAllReduce(one.send, one.recv, one.count, ncclFloat32, ncclSum, one.comm, one.stream));
      }
      // Also what waits for all of them, after any of them: not where the device is another rank's too, whose streams
      // may be ahead of this one.
      if (random() % 3 == 0) {
        CHECK(all[random() % kComms]->stream.synchronize());
      } else if (random() % 3 == 0 && deviceCount() >= kRanks) {
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
      }
    }
    for (const std::unique_ptr<One>& one : all) {
      CHECK(one->stream.synchronize());
      CHECK(one->recv.isAll(6));
    }
  });
}
