// Communicators made of others: without some ranks, and with more.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;

namespace {

/// That the communicator has so many ranks, of which this is one, and adds up what they give.
void checkMade(ncclComm_t comm, int ranks, int rank) {
  int size = 0, number = -1;
  CHECK_NCCL(ncclCommCount(comm, &size));
  CHECK_NCCL(ncclCommUserRank(comm, &number));
  CHECK(size == ranks);
  CHECK(number == rank);
  checkSum(comm, 1, static_cast<float>(ranks));
}

bool hasSaid(const char* part) { return std::string(ncclGetLastError(nullptr)).find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a communicator shrinks, and what is left of it shrinks again") {
  constexpr int kRanks = 4;
  const ncclUniqueId id = newId();
  onRanks(kRanks, [&](int rank) {
    const Comm comm(id, kRanks, rank);
    if (rank == 1) return;
    int excluded[] = {1, 3};
    ncclComm_t three = nullptr, two = nullptr;
    CHECK_NCCL(ncclCommShrink(comm, excluded, 1, &three, nullptr, 0));
    checkMade(three, 3, rank == 0 ? 0 : rank - 1);
    // Of the first again, by other ranks.
    if (rank != 3) {
      CHECK_NCCL(ncclCommShrink(comm, excluded, 2, &two, nullptr, 0));
      checkMade(two, 2, rank / 2);
      CHECK_NCCL(ncclCommDestroy(two));
      int last[] = {2};
      CHECK_NCCL(ncclCommShrink(three, last, 1, &two, nullptr, 0));
      checkMade(two, 2, rank / 2);
      CHECK_NCCL(ncclCommDestroy(two));
    }
    CHECK_NCCL(ncclCommDestroy(three));
  });
}

TEST_CASE("who is of another mind about what is left meets nobody") {
  constexpr int kRanks = 4;
  const ncclUniqueId id = newId();
  std::atomic<int> others{0}, done{0};
  onRanks(kRanks, [&](int rank) {
    const Comm comm(id, kRanks, rank);
    if (rank == 1) return;
    int excluded[] = {1, rank == 3 ? 2 : 3};
    ncclComm_t rest = nullptr;
    if (rank == 3) {
      ncclConfig_t config{};
      config.size = sizeof config;
      config.magic = kNcclMagic;
      config.version = kNcclVersion;
      config.blocking = 0;
      config.maxCTAs = kNcclUnset;
      CHECK(ncclCommShrink(comm, excluded, 2, &rest, &config, 0) == ncclInProgress);
      others = 1;
      while (done != 2) std::this_thread::yield();
      ncclResult_t state = ncclSuccess;
      CHECK_NCCL(ncclCommGetAsyncError(rest, &state));
      CHECK(state == ncclInProgress);
      CHECK_NCCL(ncclCommAbort(rest));
      return;
    }
    while (others == 0) std::this_thread::yield();
    CHECK_NCCL(ncclCommShrink(comm, excluded, 2, &rest, nullptr, 0));
    checkMade(rest, 2, rank / 2);
    CHECK_NCCL(ncclCommDestroy(rest));
    ++done;
  });
}

TEST_CASE("with NCCL_SHRINK_ABORT, and after ncclCommRevoke, runs that wait for a rank are given up") {
  constexpr int kRanks = 3;
  for (const bool isRevoked : {false, true}) {
    CAPTURE(isRevoked);
    const ncclUniqueId id = newId();
    onRanks(kRanks, [&](int rank) {
      const Comm comm(id, kRanks, rank);
      if (rank == 2) return;
      const RankStream stream;
      const Buffer send(kCount, 1), recv(kCount, 0);
      CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, stream));
      if (isRevoked) CHECK_NCCL(ncclCommRevoke(comm, 0));
      int excluded[] = {2};
      ncclComm_t rest = nullptr;
      CHECK_NCCL(ncclCommShrink(comm, excluded, 1, &rest, nullptr, isRevoked ? 0 : 1));
      CHECK(stream.synchronize());
      checkMade(rest, 2, rank);
      CHECK_NCCL(ncclCommDestroy(rest));
    });
  }
}

TEST_CASE("one that was revoked refuses runs, answers questions, and can be split") {
  constexpr int kRanks = 2;
  const ncclUniqueId id = newId();
  onRanks(kRanks, [&](int rank) {
    const Comm comm(id, kRanks, rank);
    CHECK_NCCL(ncclCommRevoke(comm, 0));
    CHECK_NCCL(ncclCommRevoke(comm, 0));
    const RankStream stream;
    const Buffer buffer(kCount, 1);
    CHECK(ncclAllReduce(buffer, buffer, kCount, ncclFloat32, ncclSum, comm, stream) == ncclInvalidUsage);
    CHECK(ncclCommFinalize(comm) == ncclInvalidUsage);
    int size = 0;
    CHECK_NCCL(ncclCommCount(comm, &size));
    CHECK(size == kRanks);
    ncclResult_t error = ncclInProgress;
    CHECK_NCCL(ncclCommGetAsyncError(comm, &error));
    CHECK(error == ncclSuccess);
    ncclComm_t again = nullptr;
    CHECK_NCCL(ncclCommSplit(comm, 0, rank, &again, nullptr));
    checkMade(again, kRanks, rank);
    CHECK_NCCL(ncclCommDestroy(again));
  });
}

TEST_CASE("ranks join a communicator, twice; who is in keeps its number") {
  constexpr int kRanks = 4;
  const ncclUniqueId id = newId();
  ncclComm_t two[2], three[3], four[kRanks];
  onRanks(2, [&](int rank) { CHECK_NCCL(ncclCommInitRank(&two[rank], 2, id, rank)); });
  ncclUniqueId joining{};
  CHECK_NCCL(ncclCommGetUniqueId(two[1], &joining));
  onRanks(3, [&](int rank) {
    if (rank == 2) {
      CHECK_NCCL(ncclCommGrow(nullptr, 3, &joining, 2, &three[2], nullptr));
    } else {
      CHECK_NCCL(ncclCommGrow(two[rank], 3, rank == 1 ? &joining : nullptr, -1, &three[rank], nullptr));
      CHECK(ncclCommGrow(two[rank], 3, &joining, -1, &four[rank], nullptr) == ncclInvalidArgument);
      CHECK(hasSaid("has served already"));
      CHECK_NCCL(ncclCommDestroy(two[rank]));
    }
    checkMade(three[rank], 3, rank);
  });
  CHECK_NCCL(ncclCommGetUniqueId(three[0], &joining));
  onRanks(kRanks, [&](int rank) {
    ncclComm_t grown = nullptr;
    CHECK_NCCL(ncclCommGrow(rank == 3 ? nullptr : three[rank], kRanks, &joining, rank == 3 ? 3 : -1, &grown, nullptr));
    if (rank != 3) CHECK_NCCL(ncclCommDestroy(three[rank]));
    checkMade(grown, kRanks, rank);
    CHECK_NCCL(ncclCommDestroy(grown));
  });
}

TEST_CASE("what makes no sense when a communicator is resized is refused, with the reason") {
  cudaSetDevice(0);
  const Comm comm(newId(), 1, 0);
  ncclComm_t made = nullptr;
  int none[] = {3}, self[] = {0};
  CHECK(ncclCommShrink(comm, nullptr, 1, &made, nullptr, 0) == ncclInvalidArgument);
  CHECK(ncclCommShrink(comm, self, 1, &made, nullptr, 0) == ncclInvalidArgument);
  CHECK(ncclCommShrink(comm, none, -1, &made, nullptr, 0) == ncclInvalidArgument);
  CHECK(ncclCommShrink(comm, nullptr, 0, &made, nullptr, 2) == ncclInvalidArgument);
  CHECK(ncclCommShrink(comm, nullptr, 0, nullptr, nullptr, 0) == ncclInvalidArgument);
  CHECK(ncclCommRevoke(comm, 1) == ncclInvalidArgument);
  CHECK(ncclCommGetUniqueId(comm, nullptr) == ncclInvalidArgument);
  CHECK(ncclCommGrow(comm, 1, nullptr, -1, &made, nullptr) == ncclInvalidArgument);
  CHECK(ncclCommGrow(comm, 2, nullptr, 1, &made, nullptr) == ncclInvalidArgument);
  CHECK(ncclCommGrow(nullptr, 2, nullptr, 1, &made, nullptr) == ncclInvalidArgument);
  const ncclUniqueId foreign = newId();
  CHECK(ncclCommGrow(comm, 2, &foreign, -1, &made, nullptr) == ncclInvalidArgument);
  CHECK(hasSaid("of another communicator"));
  CHECK(made == nullptr);
  CHECK_NCCL(ncclCommShrink(comm, nullptr, 0, &made, nullptr, 0));
  checkMade(made, 1, 0);
  CHECK_NCCL(ncclCommDestroy(made));
}

TEST_CASE("a rank that was excluded and shrinks all the same is told so") {
  const ncclUniqueId id = newId();
  onRanks(2, [&](int rank) {
    const Comm comm(id, 2, rank);
    int twice[] = {0, 0}, other[] = {1 - rank}, self[] = {rank};
    ncclComm_t rest = nullptr;
    CHECK(ncclCommShrink(comm, twice, 2, &rest, nullptr, 0) == ncclInvalidArgument);
    CHECK(ncclCommShrink(comm, self, 1, &rest, nullptr, 0) == ncclInvalidUsage);
    CHECK_NCCL(ncclCommShrink(comm, other, 1, &rest, nullptr, 0));
    checkMade(rest, 1, 0);
    CHECK_NCCL(ncclCommDestroy(rest));
  });
}

TEST_CASE("other ranks than before are left of what is shrunk anew") {
  const ncclUniqueId id = newId();
  onRanks(3, [&](int rank) {
    const Comm comm(id, 3, rank);
    for (int excluded : {2, 1}) {
      if (rank == excluded) continue;
      ncclComm_t rest = nullptr;
      CHECK_NCCL(ncclCommShrink(comm, &excluded, 1, &rest, nullptr, 0));
      checkSum(rest, 1, 2);
      CHECK_NCCL(ncclCommDestroy(rest));
    }
    checkSum(comm, 1, 3);
  });
}
