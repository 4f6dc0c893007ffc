// Buffers of ranks that are processes: those that the others have mapped, have yet to map, or can't map at all.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "call_beside.hpp"
#include "simulated/joined_rank.hpp"
#include "simulated/memory_table.hpp"

using namespace dfccl::gpu::simulated::test;
using dfccl::gpu::simulated::openPieces;
using dfccl::gpu::test::comesToHold;

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

// Unmapping keeps the driver to itself until the device is idle. It hung, on GPUs in 3 of some 900 programs of four
// processes, where a peer's memory was unmapped while a stream waited: whoever was to submit, or to launch, what the
// peer waited for first was kept out.
TEST_CASE("what a peer has freed is unmapped without keeping the driver from whoever goes on while a stream waits") {
  const std::string job = newJob();
  Processes processes(2, [&](uint32_t rank) -> int {
    Joined me;
    EXPECT(join(me, job, rank, 2) == kFine);
    constexpr size_t kCount = 400'001;
    constexpr int kMapped = 1, kAwaited = 2, kBefore = 3;
    for (const int id : {kMapped, kAwaited, kBefore}) {
      OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, me.context));
    }
    int32_t *in = allocate(kCount), *out = allocate(kCount), *other = allocate(kCount);
    fill(in, kCount, me.rank, 0);
    fill(other, kCount, me.rank, 0);
    constexpr size_t kArenaAndBuffers = 3;  // of the other rank's
    for (int run = 0; run < 2; ++run) {
      OK(dfcclRun(in, out, kMapped, nullptr, nullptr, me.context));
      OK(dfcclWaitFor(kLimitMicros, me.context));
      // Behind the first run they are mapped, and the second goes by them.
      EXPECT(comesToHold([] { return openPieces() >= kArenaAndBuffers; }));
    }
    if (me.rank == 1) cudaFree(in);
    cudaStream_t stream = nullptr;
    EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    const auto runAwaited = [&] {
      return dfcclRunOnStream(other, out, kAwaited, stream, nullptr, nullptr, me.context);
    };
    if (me.rank == 0) {
      OK(runAwaited());
      OK(dfcclWaitOnStream(kAwaited, stream, me.context));
      // By then the other's memory is known to be gone, and nothing tells of what isn't done: longer is as good.
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    }
    int32_t* const between = allocate(kCount);
    OK(dfcclRun(other, between, kBefore, nullptr, nullptr, me.context));
    if (me.rank == 1) {
      OK(dfcclWaitFor(kLimitMicros, me.context));
      OK(runAwaited());
    }
    OK(dfcclWaitFor(kLimitMicros, me.context));
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
    EXPECT(isSum(out, kCount, firstRanks(2), 0) && isSum(between, kCount, firstRanks(2), 0));
    cudaStreamDestroy(stream);
    return leave(me);
  });
  checkAllFine(processes, 2);
}
