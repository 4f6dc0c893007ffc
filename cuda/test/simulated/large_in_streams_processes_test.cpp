// Large runs that are kernels in their streams, of ranks that are processes: they go directly once all have mapped all
// buffers, and by lines before, in the same stream.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "simulated/captured_lanes.hpp"
#include "simulated/joined_rank.hpp"
#include "simulated/lose_rank.hpp"

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
  EXPECT(join(to.me, job, rank, ranks, 1500) == kFine);
  OK(dfcclGroupCreate(nullptr, 0, 1, &to.group, to.me.context));
  OK(dfcclGroupRunInStreams(to.group, size_t{1} << 30, 0, dfcclForItsStream));
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

/// Sums up until rank 1 is gone.
int surviveLarge(const std::string& job, uint32_t rank, int ready) {
  InStreams in;
  EXPECT(joinInStreams(in, job, rank, 3) == kFine);
  int32_t *const send = allocate(kLargeSum), *const recv = allocate(kLargeSum);
  fill(send, kLargeSum, in.me.rank, 0);
  dfcclResult_t status = dfcclSuccess;
  for (int run = 0, direct = 0; status == dfcclSuccess; ++run) {
    dfcclRequest_t request = nullptr;
    OK(dfcclAllReduce(send, recv, kLargeSum, dfcclInt32, dfcclSum, in.group, 0, in.stream, &request));
    status = dfcclWaitRun(request, kLimitMicros);
    EXPECT(cudaStreamSynchronize(in.stream) == cudaSuccess);
    if (status == dfcclSuccess) EXPECT(isSum(recv, kLargeSum, firstRanks(3), 0));
    if (lanesMovedDirectly() != 0) ++direct;
    if (rank == 1 && direct == 3) EXPECT(write(ready, "x", 1) == 1);
  }
  EXPECT(status == dfcclAborted);
  // Its buffers are its own again.
  std::fill_n(recv, kLargeSum, -7);
  int lost[4], lostCount = 0;
  OK(dfcclGetLostRanks(lost, 4, &lostCount, in.me.context));
  EXPECT(std::find(lost, lost + lostCount, 1) != lost + lostCount);
  EXPECT(std::all_of(recv, recv + kLargeSum, [](int32_t value) { return value == -7; }));
  return leaveInStreams(in);
}

}  // namespace

// One that is stopped may go on, so its peers keep their buffers until it does, or is gone.
TEST_CASE("large runs in streams with a rank that is killed end") {
  const std::string job = newJob();
  loseRank1(SIGKILL, [&](uint32_t rank, int ready) { return surviveLarge(job, rank, ready); });
}

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
