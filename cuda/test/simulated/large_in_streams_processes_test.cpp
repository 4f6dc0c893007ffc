// Large runs that are kernels in their streams, of ranks that are processes: they go directly once all have mapped all
// buffers, and by lines before, in the same stream.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "simulated/captured_lanes.hpp"
#include "simulated/joined_rank.hpp"

using namespace dfccl::gpu::simulated::test;
using dfccl::gpu::simulated::lanesMovedDirectly;

namespace {

constexpr size_t kLargeSum = 150'001;

struct InStreams {
  Joined me;
  dfcclGroup_t group = nullptr;
  cudaStream_t stream = nullptr;
};

int joinInStreams(InStreams& to, const std::string& job, uint32_t rank, uint32_t ranks) {
  EXPECT(join(to.me, job, rank, ranks) == kFine);
  OK(dfcclGroupCreate(nullptr, 0, 1, &to.group, to.me.context));
  OK(dfcclGroupRunInStreams(to.group, size_t{1} << 30, dfcclForItsStream));
  EXPECT(cudaStreamCreateWithFlags(&to.stream, cudaStreamNonBlocking) == cudaSuccess);
  return kFine;
}

int leaveInStreams(InStreams& from) {
  OK(dfcclWaitFor(kLimitMicros, from.me.context));
  OK(dfcclGroupDestroy(from.group));
  EXPECT(cudaStreamDestroy(from.stream) == cudaSuccess);
  return leave(from.me);
}

int checkSum(const InStreams& in, const int32_t* send, int32_t* recv, int k) {
  std::fill_n(recv, kLargeSum, -1);
  OK(dfcclAllReduce(send, recv, kLargeSum, dfcclInt32, dfcclSum, in.group, 0, in.stream, nullptr));
  EXPECT(cudaStreamSynchronize(in.stream) == cudaSuccess);
  EXPECT(isSum(recv, kLargeSum, firstRanks(in.me.ranks), k));
  return kFine;
}

/// Of all ranks, the least.
int leastOf(const InStreams& in, int32_t mine, int32_t& least) {
  int32_t *const send = allocate(1), *const recv = allocate(1);
  *send = mine;
  OK(dfcclAllReduce(send, recv, 1, dfcclInt32, dfcclMin, in.group, 0, in.stream, nullptr));
  EXPECT(cudaStreamSynchronize(in.stream) == cudaSuccess);
  least = *recv;
  cudaFree(send);
  cudaFree(recv);
  return kFine;
}

}  // namespace

TEST_CASE("large runs in streams come to go directly, and are right before and after") {
  const std::string job = newJob();
  Processes processes(3, [&](uint32_t rank) -> int {
    InStreams in;
    EXPECT(joinInStreams(in, job, rank, 3) == kFine);
    int32_t *const send = allocate(kLargeSum), *const recv = allocate(kLargeSum);
    int32_t isDirect = 0;
    for (int k = 0; isDirect == 0; ++k) {
      fill(send, kLargeSum, in.me.rank, k);
      EXPECT(checkSum(in, send, recv, k) == kFine);
      EXPECT(leastOf(in, lanesMovedDirectly() != 0, isDirect) == kFine);
    }
    return leaveInStreams(in);
  });
  checkAllFine(processes, 3);
}

TEST_CASE("large runs in streams are right while some buffers are mapped and others are not") {
  const std::string job = newJob();
  Processes processes(3, [&](uint32_t rank) -> int {
    InStreams in;
    EXPECT(joinInStreams(in, job, rank, 3) == kFine);
    int32_t *const send = allocate(kLargeSum), *const recv = allocate(kLargeSum);
    std::mt19937 random(rank);
    for (int k = 0; k < 40; ++k) {
      // Now and then one that is new, or that nobody can map.
      int32_t *mine = send, *fresh = nullptr;
      const uint32_t chance = random() % 6;
      if (chance == 0) fresh = allocate(kLargeSum);
      if (chance == 1) cudaMallocAsync(reinterpret_cast<void**>(&fresh), kLargeSum * sizeof(int32_t), nullptr);
      if (fresh != nullptr) mine = fresh;
      fill(mine, kLargeSum, in.me.rank, k);
      EXPECT(checkSum(in, mine, recv, k) == kFine);
      cudaFree(fresh);
    }
    return leaveInStreams(in);
  });
  checkAllFine(processes, 3);
}
