#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
// Ranks on GPUs as processes, where there are none: all of the host's side, and the daemon, over simulated devices.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <random>

#include "forgetful_rank.hpp"
#include "simulated/joined_rank.hpp"
#include "word.hpp"

using namespace dfccl::gpu::simulated::test;

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

TEST_CASE("a process whose stream hasn't come to a run is told from one that hasn't submitted it") {
  const std::string job = newJob();
  int opening[2];
  REQUIRE(pipe(opening) == 0);
  Processes processes(2, [&](uint32_t rank) -> int {
    Joined me;
    EXPECT(join(me, job, rank, 2) == kFine);
    int32_t* data = allocate(100);
    OK(dfcclRegisterAllReduce(100, dfcclInt32, dfcclSum, 1, dfcclAllRanks(), 0, me.context));
    if (rank == 0) {
      OK(dfcclRun(data, data, 1, nullptr, nullptr, me.context));
      // Rank 1 may not have come so far, and shows how far it is at intervals.
      bool isTold = false;
      for (int look = 0; look < 3000 && !isTold; ++look) {
        EXPECT(dfcclWaitFor(10'000, me.context) == dfcclTimeout);
        isTold = std::strstr(dfcclGetLastError(), "rank 1 waits for its stream or its GPU") != nullptr;
      }
      EXPECT(isTold);
      EXPECT(write(opening[1], "x", 1) == 1);
      OK(dfcclWaitFor(kLimitMicros, me.context));
      return leave(me);
    }
    close(opening[1]);
    void* memory = nullptr;
    EXPECT(cudaMallocHost(&memory, sizeof(std::atomic<uint32_t>)) == cudaSuccess);
    auto& word = *new (memory) std::atomic<uint32_t>(0);
    cudaStream_t stream = nullptr;
    EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    dfccl::gpu::test::WordAt(&word).letWait(stream);
    OK(dfcclRunOnStream(data, data, 1, stream, nullptr, nullptr, me.context));
    char told;
    EXPECT(read(opening[0], &told, 1) == 1);
    word = 1;
    OK(dfcclWaitFor(kLimitMicros, me.context));
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
    EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
    EXPECT(cudaFreeHost(memory) == cudaSuccess);
    return leave(me);
  });
  close(opening[1]);  // who waits for a process that has ended sees that nobody writes any more
  checkAllFine(processes, 2);
}

TEST_CASE("runs of what one process has forgotten and another hasn't meet, in their order") {
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) -> int {
    Joined me;
    EXPECT(join(me, job, rank, 2, 0, dfccl::gpu::test::ForgetfulRank::kPlaces) == kFine);
    dfccl::gpu::test::ForgetfulRank forgetful(me.context, me.rank, me.ranks);
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const std::string wrong = forgetful.carryOut(seed, 150);
      if (!wrong.empty()) std::fprintf(stderr, "seed %u, %s\n", seed, wrong.c_str());
      EXPECT(wrong.empty());
    }
    return leave(me);
  });
  checkAllFine(processes, 2);
}
