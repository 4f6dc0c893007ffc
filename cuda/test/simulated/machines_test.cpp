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
  for (const Machines& machines : {Machines{2, 1}, Machines{2, 2}, Machines{3, 1}}) {
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
      for (int round = 0; round < 6; ++round) {
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

TEST_CASE("an abort on one machine ends the runs of the others, and the id can be registered again") {
  onMachines({2, 2}, [](Joined& me) -> int {
    int32_t *in = allocate(1000), *out = allocate(1000);
    fill(in, 1000, me.rank, 0);
    for (int round = 0; round < 5; ++round) {
      OK(dfcclRegisterAllReduce(1000, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
      dfcclResult_t status = dfcclSuccess;
      const auto note = [](void* at, dfcclResult_t result) { *static_cast<dfcclResult_t*>(at) = result; };
      // All are in it, then: an abort that comes before is another registration's.
      OK(dfcclRun(in, out, 1, nullptr, nullptr, me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      if (me.rank == 3) OK(dfcclAbort(1, me.context));
      if (me.rank != 3) OK(dfcclRun(in, out, 1, note, &status, me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      EXPECT(status == (me.rank == 3 ? dfcclSuccess : dfcclAborted));
      dfcclResult_t left;
      while ((left = dfcclUnregister(1, me.context)) == dfcclInUse) {
      }
      OK(left);
      OK(dfcclRegisterAllReduce(1000, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
      OK(dfcclRun(in, out, 1, nullptr, nullptr, me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      EXPECT(isSum(out, 1000, firstRanks(me.ranks), 0));
      OK(dfcclUnregister(1, me.context));
    }
    return kFine;
  });
}

TEST_CASE("an id that two machines register differently ends in an error on both") {
  onMachines({2, 1}, [](Joined& me) -> int {
    const size_t count = me.rank == 0 ? 1000 : 2000;
    int32_t *in = allocate(count), *out = allocate(count);
    const dfcclResult_t registered =
        dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, 7, dfcclAllRanks(), 0, me.context);
    if (registered != dfcclSuccess) {
      EXPECT(registered == dfcclRegistrationMismatch);
      return kFine;
    }
    dfcclResult_t status = dfcclSuccess;
    const auto note = [](void* at, dfcclResult_t result) { *static_cast<dfcclResult_t*>(at) = result; };
    OK(dfcclRun(in, out, 7, note, &status, me.context));
    OK(dfcclWaitFor(kLimitMicros, me.context));
    EXPECT(status == dfcclAborted);
    return kFine;
  });
}
