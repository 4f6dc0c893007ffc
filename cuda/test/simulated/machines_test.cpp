// Ranks on GPUs of several machines, where there are none of either: all of the host's side, the proxies and the wire,
// over simulated devices and loopback.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "simulated/machine_ranks.hpp"

using namespace dfccl::gpu::simulated::test;

namespace {

constexpr size_t kCounts[] = {1, 100, 5000, 40'000, 150'000};

}  // namespace

TEST_CASE("ranks on GPUs of several machines reduce in orders of their own, bit for bit") {
  for (const Machines& machines : {Machines{2, 1}, Machines{2, 2}, Machines{3, 2}}) {
    CAPTURE(machines.count);
    CAPTURE(machines.ranksEach);
    onMachines(machines, [](Joined& me) -> int {
      std::mt19937 random(static_cast<unsigned>(me.rank));
      constexpr int kIds = 12;
      const auto countOf = [](int id) { return kCounts[static_cast<size_t>(id) % std::size(kCounts)]; };
      std::vector<int32_t*> in(kIds), out(kIds);
      for (int id = 0; id < kIds; ++id) {
        OK(dfcclRegisterAllReduce(countOf(id), dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, me.context));
        in[static_cast<size_t>(id)] = allocate(countOf(id));
        out[static_cast<size_t>(id)] = allocate(countOf(id));
      }
      std::vector<int> order = firstRanks(kIds);
      for (int round = 0; round < 10; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (const int id : order) fill(in[static_cast<size_t>(id)], countOf(id), me.rank, id + round);
        for (const int id : order) {
          OK(dfcclRun(in[static_cast<size_t>(id)], out[static_cast<size_t>(id)], id, nullptr, nullptr, me.context));
          if (random() % 5 == 0) OK(dfcclSynchronize(me.context));
        }
        OK(dfcclWaitFor(kLimitMicros, me.context));
        for (const int id : order) {
          EXPECT(isSum(out[static_cast<size_t>(id)], countOf(id), firstRanks(me.ranks), id + round));
        }
      }
      for (int id = 0; id < kIds; ++id) OK(dfcclUnregister(id, me.context));
      return kFine;
    });
  }
}
