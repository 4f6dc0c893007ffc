#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
// Ranks on GPUs as processes, where there are none: all of the host's side, and the daemon, over simulated devices.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "dfccl/dfccl.h"
#include "processes/support/expect.hpp"
#include "processes/support/processes.hpp"

using namespace dfccl::test;

namespace {

#define OK(call)                                                                               \
  do {                                                                                         \
    if ((call) != dfcclSuccess) {                                                              \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, dfcclGetLastError()); \
      return kWrong;                                                                           \
    }                                                                                          \
  } while (false)
constexpr uint64_t kLimitMicros = 30'000'000;

struct Joined {
  dfcclWorld_t world = nullptr;
  dfcclRankCtx_t context = nullptr;
  int rank, ranks;
};

int join(Joined& joined, const std::string& job, uint32_t rank, uint32_t ranks, uint32_t muteMillis = 0) {
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.world.ranks = ranks;
  config.world.backend = dfcclCuda;
  config.world.grid = 3;
  config.world.arenaBytes = size_t{256} << 20;
  config.job = job.c_str();
  config.rank = static_cast<int>(rank);
  config.muteMillis = muteMillis;
  joined.rank = static_cast<int>(rank);
  joined.ranks = static_cast<int>(ranks);
  OK(dfcclJoinWorld(&config, &joined.world, nullptr));
  OK(dfcclInitRank(joined.world, joined.rank, &joined.context));
  cudaSetDevice(joined.rank % 4);
  return kFine;
}
int leave(Joined& joined) {
  OK(dfcclDestroy(joined.context));
  OK(dfcclWorldDestroy(joined.world));
  return kFine;
}

int32_t* allocate(size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(int32_t));
  return static_cast<int32_t*>(memory);
}

int32_t valueOf(size_t i, int rank, int k) {
  return static_cast<int32_t>(i * 3 + static_cast<size_t>(rank) * 7 + static_cast<size_t>(k) * 11);
}
void fill(int32_t* data, size_t count, int rank, int k) {
  for (size_t i = 0; i < count; ++i) data[i] = valueOf(i, rank, k);
}
bool isSum(const int32_t* data, size_t count, const std::vector<int>& ranks, int k) {
  for (size_t i = 0; i < count; ++i) {
    int32_t sum = 0;
    for (const int r : ranks) sum += valueOf(i, r, k);
    if (data[i] != sum) return false;
  }
  return true;
}
std::vector<int> firstRanks(int count) {
  std::vector<int> ranks(static_cast<size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

void checkAllFine(Processes& processes, uint32_t count) {
  for (uint32_t r = 0; r < count; ++r) CHECK(processes.join(r) == kFine);
}

}  // namespace

TEST_CASE("sums of every size are right, also in buffers that are made anew at the same address") {
  const std::string job = newJob();
  Processes processes(3, [&](uint32_t rank) -> int {
    setenv("DFCCL_MAP_BUFFERS", "1", 1);
    Joined me;
    EXPECT(join(me, job, rank, 3) == kFine);
    int id = 0, sameAddress = 0;
    for (const size_t count : {2ul, 1000ul, 100'000ul, 400'001ul}) {
      OK(dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, ++id, dfcclAllRanks(), 0, me.context));
      const int32_t* before = nullptr;
      for (int k = 0; k < 6; ++k) {
        int32_t *in = allocate(count), *out = allocate(count);
        sameAddress += in == before;
        before = in;
        fill(in, count, me.rank, k);
        OK(dfcclRun(in, out, id, nullptr, nullptr, me.context));
        OK(dfcclWaitFor(kLimitMicros, me.context));
        EXPECT(isSum(out, count, firstRanks(me.ranks), k));
        cudaFree(in);
        cudaFree(out);
      }
    }
    EXPECT(sameAddress > 0);
    for (; id > 0; --id) OK(dfcclUnregister(id, me.context));
    return leave(me);
  });
  checkAllFine(processes, 3);
}

TEST_CASE("control: where the driver doesn't tell one allocation from the next, old memory is summed up") {
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) -> int {
    setenv("SIMULATED_ALIKE", "1", 1);
    setenv("DFCCL_MAP_BUFFERS", "1", 1);
    Joined me;
    EXPECT(join(me, job, rank, 2) == kFine);
    constexpr size_t kCount = 400'000;
    OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
    int wrong = 0;
    for (int k = 0; k < 6; ++k) {
      int32_t *in = allocate(kCount), *out = allocate(kCount);
      fill(in, kCount, me.rank, k);
      OK(dfcclRun(in, out, 1, nullptr, nullptr, me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      wrong += !isSum(out, kCount, firstRanks(2), k);
      cudaFree(in);
      cudaFree(out);
    }
    EXPECT(wrong > 0);
    return leave(me);
  });
  checkAllFine(processes, 2);
}

TEST_CASE("many collectives in any order, registered and unregistered while others run") {
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) -> int {
    Joined me;
    EXPECT(join(me, job, rank, 2) == kFine);
    std::mt19937 random(rank);
    for (int round = 0; round < 10; ++round) {
      std::vector<int> order = firstRanks(20);
      std::shuffle(order.begin(), order.end(), random);
      std::vector<int32_t*> in(20), out(20);
      const auto countOf = [](int id) { return static_cast<size_t>(100 + id * 9000); };
      for (const int id : order) {
        OK(dfcclRegisterAllReduce(countOf(id), dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, me.context));
        in[static_cast<size_t>(id)] = allocate(countOf(id));
        out[static_cast<size_t>(id)] = allocate(countOf(id));
        fill(in[static_cast<size_t>(id)], countOf(id), me.rank, id);
      }
      std::shuffle(order.begin(), order.end(), random);
      for (const int id : order) {
        OK(dfcclRun(in[static_cast<size_t>(id)], out[static_cast<size_t>(id)], id, nullptr, nullptr, me.context));
      }
      OK(dfcclWaitFor(kLimitMicros, me.context));
      for (const int id : order) {
        EXPECT(isSum(out[static_cast<size_t>(id)], countOf(id), firstRanks(2), id));
        OK(dfcclUnregister(id, me.context));
        cudaFree(in[static_cast<size_t>(id)]);
        cudaFree(out[static_cast<size_t>(id)]);
      }
    }
    return leave(me);
  });
  checkAllFine(processes, 2);
}

TEST_CASE("collectives that get the places of others begin with nothing of theirs") {
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) -> int {
    setenv("DFCCL_MAP_BUFFERS", "1", 1);
    Joined me;
    EXPECT(join(me, job, rank, 2) == kFine);
    // More than a rank lets rest before it clears their places, which it does while its daemon is out.
    constexpr int kAtOnce = 100;
    for (int round = 0; round < 4; ++round) {
      const size_t count = 10 + static_cast<size_t>(round) * 7;
      int32_t *in = allocate(count), *out = allocate(count * kAtOnce);
      for (int id = 0; id < kAtOnce; ++id) {
        OK(dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, me.context));
      }
      for (int k = 0; k < 2; ++k) {
        fill(in, count, me.rank, k);
        for (int id = 0; id < kAtOnce; ++id) {
          OK(dfcclRun(in, out + static_cast<size_t>(id) * count, id, nullptr, nullptr, me.context));
        }
        OK(dfcclWaitFor(kLimitMicros, me.context));
        for (int id = 0; id < kAtOnce; ++id) {
          EXPECT(isSum(out + static_cast<size_t>(id) * count, count, firstRanks(2), k));
        }
      }
      for (int id = 0; id < kAtOnce; ++id) OK(dfcclUnregister(id, me.context));
      cudaFree(in);
      cudaFree(out);
      OK(dfcclSynchronize(me.context));  // the daemon is out, then
    }
    return leave(me);
  });
  checkAllFine(processes, 2);
}

TEST_CASE("memory of dfcclAllocate, buffers that a rank doesn't use, and other collectives") {
  const std::string job = newJob();
  Processes processes(3, [&](uint32_t rank) -> int {
    setenv("DFCCL_MAP_BUFFERS", "1", 1);
    Joined me;
    EXPECT(join(me, job, rank, 3) == kFine);
    constexpr size_t kCount = 5000;
    OK(dfcclRegisterBroadcast(kCount, dfcclInt32, 1, 1, dfcclAllRanks(), 0, me.context));
    OK(dfcclRegisterAllGather(kCount, dfcclInt32, 2, dfcclAllRanks(), 0, me.context));
    for (int k = 0; k < 5; ++k) {
      void *one = nullptr, *all = nullptr;
      OK(dfcclAllocate(kCount * 4, &one, me.context));
      OK(dfcclAllocate(kCount * 4 * 3, &all, me.context));
      auto* const data = static_cast<int32_t*>(one);
      fill(data, kCount, me.rank, k);
      OK(dfcclRun(me.rank == 1 ? one : reinterpret_cast<void*>(0x1234), me.rank == 1 ? one : all, 1, nullptr, nullptr,
                  me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      const auto* const got = static_cast<int32_t*>(me.rank == 1 ? one : all);
      for (size_t i = 0; i < kCount; ++i) EXPECT(got[i] == valueOf(i, 1, k));
      OK(dfcclRun(one, all, 2, nullptr, nullptr, me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      for (int r = 0; r < 3; ++r) {
        for (size_t i = 0; i < kCount; ++i)
          EXPECT(static_cast<int32_t*>(all)[static_cast<size_t>(r) * kCount + i] == valueOf(i, r, k));
      }
      OK(dfcclFree(one, kCount * 4, me.context));
      OK(dfcclFree(all, kCount * 4 * 3, me.context));
    }
    return leave(me);
  });
  checkAllFine(processes, 3);
}

TEST_CASE("large sums are right in memory that no other process could map, and in buffers that are new for every run") {
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) -> int {
    Joined me;
    EXPECT(join(me, job, rank, 2) == kFine);
    constexpr size_t kCount = 400'001;
    OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
    for (int run = 0; run < 4; ++run) {
      int32_t *in = nullptr, *out = nullptr;
      EXPECT(cudaMallocAsync(reinterpret_cast<void**>(&in), kCount * sizeof(int32_t), nullptr) == cudaSuccess);
      EXPECT(cudaMallocAsync(reinterpret_cast<void**>(&out), kCount * sizeof(int32_t), nullptr) == cudaSuccess);
      fill(in, kCount, me.rank, run);
      OK(dfcclRun(in, out, 1, nullptr, nullptr, me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      EXPECT(isSum(out, kCount, firstRanks(2), run));
      cudaFree(in);
      cudaFree(out);
    }
    return leave(me);
  });
  checkAllFine(processes, 2);
}

TEST_CASE("large runs are right while some buffers are mapped and others are not") {
  const std::string job = newJob();
  Processes processes(3, [&](uint32_t rank) -> int {
    Joined me;
    EXPECT(join(me, job, rank, 3) == kFine);
    constexpr size_t kCount = 60'000;
    OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
    OK(dfcclRegisterBroadcast(kCount, dfcclInt32, 1, 2, dfcclAllRanks(), 0, me.context));
    OK(dfcclRegisterAllGather(kCount, dfcclInt32, 3, dfcclAllRanks(), 0, me.context));
    int32_t *const in = allocate(kCount), *const out = allocate(kCount), *const all = allocate(kCount * 3);
    std::mt19937 random(rank);
    for (int k = 0; k < 60; ++k) {
      // Now and then one that is new, or that nobody can map.
      int32_t *mine = in, *fresh = nullptr;
      const uint32_t chance = random() % 6;
      if (chance == 0) fresh = allocate(kCount);
      if (chance == 1) cudaMallocAsync(reinterpret_cast<void**>(&fresh), kCount * sizeof(int32_t), nullptr);
      if (fresh != nullptr) mine = fresh;
      fill(mine, kCount, me.rank, k);
      std::fill_n(out, kCount, -1);
      OK(dfcclRun(mine, out, 1, nullptr, nullptr, me.context));
      OK(dfcclRun(mine, all, 3, nullptr, nullptr, me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      EXPECT(isSum(out, kCount, firstRanks(3), k));
      for (int r = 0; r < 3; ++r) {
        for (size_t i = 0; i < kCount; ++i) EXPECT(all[static_cast<size_t>(r) * kCount + i] == valueOf(i, r, k));
      }
      OK(dfcclRun(mine, out, 2, nullptr, nullptr, me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      for (size_t i = 0; i < kCount; ++i) EXPECT(out[i] == valueOf(i, 1, k));
      cudaFree(fresh);
    }
    return leave(me);
  });
  checkAllFine(processes, 3);
}

TEST_CASE("control: runs come to go directly, where old memory is summed up if allocations can't be told apart") {
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) -> int {
    setenv("SIMULATED_ALIKE", "1", 1);
    Joined me;
    EXPECT(join(me, job, rank, 2) == kFine);
    constexpr size_t kCount = 400'000;
    OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
    OK(dfcclRegisterAllReduce(1, dfcclInt32, dfcclSum, 2, dfcclAllRanks(), 0, me.context));
    int32_t *wrong = allocate(1), *anyWrong = allocate(1);
    // Until then what was allocated first has not been mapped.
    for (*anyWrong = 0; *anyWrong == 0;) {
      int32_t *in = allocate(kCount), *out = allocate(kCount);
      fill(in, kCount, me.rank, 0);
      OK(dfcclRun(in, out, 1, nullptr, nullptr, me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      *wrong = !isSum(out, kCount, firstRanks(2), 0);
      OK(dfcclRun(wrong, anyWrong, 2, nullptr, nullptr, me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      std::fill_n(in, kCount, -5);
      cudaFree(in);
      cudaFree(out);
    }
    return leave(me);
  });
  checkAllFine(processes, 2);
}

TEST_CASE("memory that other processes can't map is refused with what to do") {
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) -> int {
    setenv("DFCCL_MAP_BUFFERS", "1", 1);
    Joined me;
    EXPECT(join(me, job, rank, 2) == kFine);
    constexpr size_t kCount = 400'000;
    OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
    void* pooled = nullptr;
    cudaMallocAsync(&pooled, kCount * 4, nullptr);
    EXPECT(dfcclRun(pooled, pooled, 1, nullptr, nullptr, me.context) == dfcclInvalidArgument);
    EXPECT(std::string(dfcclGetLastError()).find("expandable_segments") != std::string::npos);
    // The refusal has queued nothing.
    int32_t* data = allocate(kCount);
    fill(data, kCount, me.rank, 0);
    OK(dfcclRun(data, data, 1, nullptr, nullptr, me.context));
    OK(dfcclWaitFor(kLimitMicros, me.context));
    EXPECT(isSum(data, kCount, firstRanks(2), 0));
    return leave(me);
  });
  checkAllFine(processes, 2);
}

TEST_CASE("a count per run is refused on GPUs, with what to do") {
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) -> int {
    Joined me;
    EXPECT(join(me, job, rank, 2) == kFine);
    const auto add = [&](size_t count) {
      return dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context);
    };
    OK(dfcclSetCountPerRun(1, me.context));
    EXPECT(add(DFCCL_ANY_COUNT) == dfcclUnavailable);
    EXPECT(std::string(dfcclGetLastError()).find("can't bring their counts on GPUs. Register it for each count") !=
           std::string::npos);
    EXPECT(add(100) == dfcclUnavailable);
    OK(dfcclSetCountPerRun(0, me.context));
    // The refusal has left nothing behind.
    int32_t* data = allocate(100);
    fill(data, 100, me.rank, 0);
    OK(add(100));
    EXPECT(dfcclRunCount(data, data, 100, 1, nullptr, nullptr, me.context) == dfcclInvalidArgument);
    OK(dfcclRun(data, data, 1, nullptr, nullptr, me.context));
    OK(dfcclWaitFor(kLimitMicros, me.context));
    EXPECT(isSum(data, 100, firstRanks(2), 0));
    return leave(me);
  });
  checkAllFine(processes, 2);
}

TEST_CASE("ranks that disagree are told so, and an abort reaches all, until the id is registered again") {
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) -> int {
    Joined me;
    EXPECT(join(me, job, rank, 2) == kFine);
    constexpr size_t kCount = 400'000;
    int32_t* data = allocate(kCount);
    OK(dfcclRegisterBarrier(99, dfcclAllRanks(), 0, me.context));
    const auto meet = [&] {
      OK(dfcclRunBarrier(99, nullptr, nullptr, me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      return static_cast<int>(kFine);
    };
    if (rank == 0) OK(dfcclRegisterAllReduce(100, dfcclInt32, dfcclSum, 7, dfcclAllRanks(), 0, me.context));
    EXPECT(meet() == kFine);
    if (rank == 1) {
      EXPECT(dfcclRegisterAllReduce(101, dfcclInt32, dfcclSum, 7, dfcclAllRanks(), 0, me.context) ==
             dfcclRegistrationMismatch);
    }
    for (int round = 0; round < 5; ++round) {
      OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
      EXPECT(meet() == kFine);
      dfcclResult_t status = dfcclSuccess;
      const auto note = [](void* at, dfcclResult_t result) { *static_cast<dfcclResult_t*>(at) = result; };
      if (rank == 0) {
        OK(dfcclRun(data, data, 1, note, &status, me.context));
        OK(dfcclAbort(1, me.context));
        OK(dfcclWaitFor(kLimitMicros, me.context));
        EXPECT(status == dfcclAborted);
      }
      EXPECT(meet() == kFine);
      if (rank == 1) {
        OK(dfcclRun(data, data, 1, note, &status, me.context));
        OK(dfcclWaitFor(kLimitMicros, me.context));
        EXPECT(status == dfcclAborted);
      }
      for (int isOver = 0; isOver == 0;) OK(dfcclIsQuarantineOver(1, &isOver, me.context));
      EXPECT(meet() == kFine);
      OK(dfcclUnregister(1, me.context));
    }
    return leave(me);
  });
  checkAllFine(processes, 2);
}

namespace {

/// Works until rank 1 is gone, then goes on without it.
int survive(const std::string& job, uint32_t rank, uint32_t ranks, size_t count, int ready) {
  Joined me;
  EXPECT(join(me, job, rank, ranks, 1500) == kFine);
  int32_t *in = allocate(count), *out = allocate(count);
  fill(in, count, me.rank, 0);
  OK(dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
  dfcclResult_t status = dfcclSuccess;
  const auto note = [](void* at, dfcclResult_t result) { *static_cast<dfcclResult_t*>(at) = result; };
  for (int run = 0; status == dfcclSuccess; ++run) {
    OK(dfcclRun(in, out, 1, note, &status, me.context));
    OK(dfcclWaitFor(kLimitMicros, me.context));
    if (status == dfcclSuccess) EXPECT(isSum(out, count, firstRanks(me.ranks), 0));
    if (rank == 1 && run == 20) EXPECT(write(ready, "x", 1) == 1);
  }
  EXPECT(status == dfcclAborted);
  int lost[4], lostCount = 0;
  OK(dfcclGetLostRanks(lost, 4, &lostCount, me.context));
  EXPECT(lostCount == 1);
  EXPECT(lost[0] == 1);
  OK(dfcclUnregister(1, me.context));
  const std::vector<int> survivors{0, 2};
  const dfcclDevSet_t set = {survivors.data(), 2};
  OK(dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, 2, set, 0, me.context));
  OK(dfcclRun(in, out, 2, nullptr, nullptr, me.context));
  OK(dfcclWaitFor(kLimitMicros, me.context));
  EXPECT(isSum(out, count, survivors, 0));
  OK(dfcclUnregister(2, me.context));
  return leave(me);
}

}  // namespace

TEST_CASE("a rank that is killed, or stopped for too long, is named; the others go on without it") {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    for (const size_t count : {1000ul, 400'000ul}) {
      CAPTURE(signal);
      CAPTURE(count);
      const std::string job = newJob();
      int ready[2];
      REQUIRE(pipe(ready) == 0);
      Processes processes(3, [&](uint32_t rank) { return survive(job, rank, 3, count, ready[1]); });
      char byte;
      REQUIRE(read(ready[0], &byte, 1) == 1);
      processes.send(1, signal);
      CHECK(processes.join(0) == kFine);
      CHECK(processes.join(2) == kFine);
      close(ready[0]);
      close(ready[1]);
    }
  }
}
