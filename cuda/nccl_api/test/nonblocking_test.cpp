// Communicators whose calls don't wait: what is asked of them until they have come to an end.
#include <atomic>
#include <thread>

#include "call_beside.hpp"
#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;
using dfccl::gpu::test::comesToHold;

namespace {

ncclResult_t stateOf(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  CHECK_NCCL(ncclCommGetAsyncError(comm, &state));
  return state;
}

/// One of two ranks' that waits for nobody.
ncclComm_t pairThatDoesNotBlock(const ncclUniqueId& id, int rank) {
  ncclConfig_t config = configThatDoesNotBlock();
  ncclComm_t comm = nullptr;
  CHECK(ncclCommInitRankConfig(&comm, 2, id, rank, &config) == ncclInProgress);
  CHECK(comesToHold([&] { return stateOf(comm) == ncclSuccess; }));
  return comm;
}

}  // namespace

// It waited for the runs, and so for the other rank.
TEST_CASE("ncclCommFinalize doesn't wait for the runs of a communicator whose calls don't") {
  const ncclUniqueId id = newId();
  std::atomic<bool> isAsked{false};
  onRanks(2, [&](int rank) {
    ncclComm_t comm = pairThatDoesNotBlock(id, rank);
    const RankStream stream;
    const Buffer send(kCount, 1), recv(kCount, 0);
    while (rank == 1 && !isAsked) std::this_thread::yield();
    CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, stream));
    if (rank == 0) {
      CHECK(ncclCommFinalize(comm) == ncclInProgress);
      CHECK(stateOf(comm) == ncclInProgress);
      isAsked = true;
    }
    CHECK(comesToHold([&] { return stateOf(comm) == ncclSuccess; }));
    CHECK(stream.synchronize());
    CHECK(recv.isAll(2));
    CHECK_NCCL(ncclCommDestroy(comm));
  });
}

// It was in progress until the time for meetings was over, ten minutes.
TEST_CASE("an abort ends the splits that are being made of a communicator") {
  const ncclUniqueId id = newId();
  onRanks(2, [&](int rank) {
    ncclComm_t comm = pairThatDoesNotBlock(id, rank), part = nullptr;
    if (rank == 0) {
      CHECK(ncclCommSplit(comm, 0, 0, &part, nullptr) == ncclInProgress);
      CHECK(stateOf(part) == ncclInProgress);
    }
    CHECK_NCCL(ncclCommAbort(comm));
    if (part == nullptr) return;
    CHECK(comesToHold([&] { return stateOf(part) == ncclInvalidUsage; }));
    CHECK_NCCL(ncclCommAbort(part));
  });
}

// The same.
TEST_CASE("an abort ends what is growing out of a communicator") {
  cudaSetDevice(deviceOf(0));
  ncclConfig_t config = configThatDoesNotBlock();
  ncclComm_t comm = nullptr, grown = nullptr;
  CHECK(ncclCommInitRankConfig(&comm, 1, newId(), 0, &config) == ncclInProgress);
  CHECK(comesToHold([&] { return stateOf(comm) == ncclSuccess; }));
  CHECK(ncclCommGrow(comm, 2, nullptr, -1, &grown, nullptr) == ncclInProgress);
  CHECK(stateOf(grown) == ncclInProgress);
  CHECK_NCCL(ncclCommAbort(comm));
  CHECK(comesToHold([&] { return stateOf(grown) == ncclInvalidUsage; }));
  CHECK_NCCL(ncclCommAbort(grown));
}

// It waited for the other rank.
TEST_CASE("a split that gives a rank no part doesn't wait either") {
  const ncclUniqueId id = newId();
  std::atomic<bool> hasReturned{false};
  onRanks(2, [&](int rank) {
    ncclComm_t comm = pairThatDoesNotBlock(id, rank), part = nullptr;
    while (rank == 1 && !hasReturned) std::this_thread::yield();
    constexpr int kNoColor = -1;
    CHECK(ncclCommSplit(comm, rank == 0 ? kNoColor : 0, 0, &part, nullptr) == ncclInProgress);
    CHECK((part == nullptr) == (rank == 0));
    // There is nothing else to ask.
    if (rank == 0) CHECK(stateOf(comm) == ncclInProgress);
    hasReturned = true;
    if (rank == 1) {
      CHECK(comesToHold([&] { return stateOf(part) == ncclSuccess; }));
      checkSum(part, 3, 3);
      CHECK_NCCL(ncclCommDestroy(part));
    }
    CHECK_NCCL(ncclCommDestroy(comm));  // waits for the split
  });
}
