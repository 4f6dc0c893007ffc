// Groups of which nothing is done: a call in them failed, or they were only to be estimated.
#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;

namespace {

/// A communicator of one rank, and a sum in it that is to be done or not.
struct Lone {
  Lone() : comm((cudaSetDevice(0), newId()), 1, 0), send(kCount, 3), recv(kCount, 0) {}

  ncclResult_t add() { return ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, stream); }
  ncclResult_t addNonsense() {
    return ncclAllReduce(send, recv, kCount, static_cast<ncclDataType_t>(99), ncclSum, comm, stream);
  }
  /// Whether sums were done by now. The next one does what it should.
  bool isDone() {
    CHECK(stream.synchronize());
    const bool isDone = recv.isAll(3);
    CHECK((isDone || recv.isAll(0)));
    recv.fill(0);
    CHECK_NCCL(ncclGroupStart());
    CHECK_NCCL(add());
    CHECK_NCCL(ncclGroupEnd());
    CHECK(stream.synchronize());
    CHECK(recv.isAll(3));
    recv.fill(0);
    return isDone;
  }

  const Comm comm;
  const RankStream stream;
  const Buffer send, recv;
};

bool saysLast(const char* what) { return std::string(ncclGetLastError(nullptr)).find(what) != std::string::npos; }

}  // namespace

// The group stayed open, and whatever the thread asked for later waited for its end.
TEST_CASE("ncclGroupSimulateEnd estimates nothing, and the group is over") {
  Lone lone;
  ncclComm_t begun = nullptr;
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclCommInitRank(&begun, 1, newId(), 0));
  CHECK_NCCL(lone.add());
  CHECK(ncclGroupSimulateEnd(nullptr) == ncclInvalidUsage);
  CHECK(saysLast("Times are not estimated; end the group with ncclGroupEnd."));
  CHECK(begun == nullptr);
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
  CHECK_FALSE(lone.isDone());
  CHECK(ncclGroupSimulateEnd(nullptr) == ncclInvalidUsage);
  CHECK(saysLast("No group of this thread is open."));
}

TEST_CASE("ncclGroupSimulateEnd of an inner group leaves the outer one open") {
  Lone lone;
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclGroupStart());
  CHECK(ncclGroupSimulateEnd(nullptr) == ncclInvalidUsage);
  CHECK_NCCL(lone.add());
  CHECK_NCCL(ncclGroupEnd());
  CHECK(lone.isDone());
}

// The end of the group was a success, and the good call was carried out.
TEST_CASE("a call that fails in a group fails the group, and nothing of it is done") {
  Lone lone;
  for (const int depth : {1, 2}) {
    CAPTURE(depth);
    for (const bool isFirst : {true, false}) {
      CAPTURE(isFirst);
      for (int i = 0; i < depth; ++i) CHECK_NCCL(ncclGroupStart());
      if (!isFirst) CHECK_NCCL(lone.add());
      CHECK(lone.addNonsense() == ncclInvalidArgument);
      if (isFirst) CHECK_NCCL(lone.add());
      for (int i = 1; i < depth; ++i) CHECK_NCCL(ncclGroupEnd());
      CHECK(ncclGroupEnd() == ncclInvalidArgument);
      CHECK(saysLast("ncclGroupEnd: "));
      CHECK(saysLast("ncclAllReduce: The data type is 99."));
      CHECK_FALSE(lone.isDone());
    }
  }
}

TEST_CASE("of several calls that fail in a group, its end tells of the first") {
  Lone lone;
  CHECK_NCCL(ncclGroupStart());
  CHECK(lone.addNonsense() == ncclInvalidArgument);
  CHECK(ncclPutSignal(nullptr, 0, ncclInt8, 0, nullptr, 0, 0, 0, 0, lone.comm, lone.stream) == ncclInvalidUsage);
  CHECK(ncclGroupEnd() == ncclInvalidArgument);
  CHECK(saysLast("The data type is 99."));
  CHECK_FALSE(lone.isDone());
}

TEST_CASE("a communicator that can't be begun fails the group, and no other of it is made") {
  cudaSetDevice(0);
  ncclComm_t good = nullptr, bad = nullptr;
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclCommInitRank(&good, 1, newId(), 0));
  CHECK(ncclCommInitRank(&bad, 2, newId(), 2) == ncclInvalidArgument);
  CHECK(ncclGroupEnd() == ncclInvalidArgument);
  CHECK(saysLast("Rank 2 is not in a communicator of 2."));
  CHECK(good == nullptr);
  CHECK(bad == nullptr);
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclCommInitRank(&good, 1, newId(), 0));
  CHECK_NCCL(ncclGroupEnd());
  checkSum(good, 2, 2);
  CHECK_NCCL(ncclCommDestroy(good));
}

TEST_CASE("one that doesn't block, and was begun in a group that failed, tells so when it is asked") {
  Lone lone;
  ncclConfig_t config = configThatDoesNotBlock();
  ncclComm_t begun = nullptr;
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclCommInitRankConfig(&begun, 1, newId(), 0, &config));
  CHECK(lone.addNonsense() == ncclInvalidArgument);
  CHECK(ncclGroupEnd() == ncclInvalidArgument);
  ncclResult_t state = ncclInProgress;
  CHECK_NCCL(ncclCommGetAsyncError(begun, &state));
  CHECK(state == ncclInvalidArgument);
  CHECK_NCCL(ncclCommDestroy(begun));
}

// It was being made for ever, and who destroyed it waited for that.
TEST_CASE("a communicator that was begun in a group whose thread has ended has failed") {
  ncclComm_t begun = nullptr;
  std::thread([&] {
    cudaSetDevice(0);
    CHECK_NCCL(ncclGroupStart());
    CHECK_NCCL(ncclCommInitRank(&begun, 1, newId(), 0));
  }).join();
  ncclResult_t state = ncclInProgress;
  CHECK_NCCL(ncclCommGetAsyncError(begun, &state));
  CHECK(state == ncclInvalidUsage);
  CHECK_NCCL(ncclCommDestroy(begun));
}

TEST_CASE("questions that fail in a group don't fail it") {
  Lone lone;
  CHECK_NCCL(ncclGroupStart());
  CHECK(ncclCommCount(nullptr, nullptr) == ncclInvalidArgument);
  CHECK_NCCL(lone.add());
  CHECK_NCCL(ncclGroupEnd());
  CHECK(lone.isDone());
}
