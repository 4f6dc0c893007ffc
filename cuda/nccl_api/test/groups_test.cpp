// Calls between ncclGroupStart and ncclGroupEnd, and those that NCCL's documentation says must be there, without them.
#include <atomic>

#include "call_beside.hpp"
#include "nccl_api/test/ranks.hpp"
#include "word.hpp"

using namespace dfccl::nccl::test;
using dfccl::gpu::test::comesToHold;
using dfccl::gpu::test::Word;

namespace {

/// All ranks of a communicator, driven by one thread.
class Driven {
 public:
  explicit Driven(int ranks) : comms(static_cast<size_t>(ranks)) {
    if (deviceCount() >= ranks) {
      CHECK_NCCL(ncclCommInitAll(comms.data(), ranks, nullptr));
    } else {
      makeOnShared(ranks);
    }
    for (int r = 0; r < ranks; ++r) {
      cudaSetDevice(deviceOf(r));
      send.push_back(std::make_unique<Buffer>(kCount, static_cast<float>(r + 1)));
      recv.push_back(std::make_unique<Buffer>(kCount, 0.0F));
      streams.push_back(std::make_unique<RankStream>());
    }
  }
  ~Driven() {
    for (const ncclComm_t comm : comms) CHECK_NCCL(ncclCommDestroy(comm));
  }
  Driven(const Driven&) = delete;
  Driven& operator=(const Driven&) = delete;

  size_t size() const { return comms.size(); }
  void allReduce(size_t r) {
    CHECK_NCCL(ncclAllReduce(*send[r], *recv[r], kCount, ncclFloat32, ncclSum, comms[r], *streams[r]));
  }
  void check(float sum) {
    for (size_t r = 0; r < size(); ++r) {
      CHECK(streams[r]->synchronize());
      CHECK(recv[r]->isAll(sum));
      recv[r]->fill(0);
    }
  }

  std::vector<ncclComm_t> comms;
  std::vector<std::unique_ptr<Buffer>> send, recv;
  std::vector<std::unique_ptr<RankStream>> streams;

 private:
  /// ncclCommInitAll takes each device once.
  void makeOnShared(int ranks) {
    const ncclUniqueId id = newId();
    CHECK_NCCL(ncclGroupStart());
    for (int r = 0; r < ranks; ++r) {
      cudaSetDevice(deviceOf(r));
      CHECK_NCCL(ncclCommInitRank(&comms[static_cast<size_t>(r)], ranks, id, r));
    }
    CHECK_NCCL(ncclGroupEnd());
  }
};

}  // namespace

TEST_CASE("a thread drives all devices, in groups, nested groups, and without any") {
  Driven ranks(4);
  for (const int depth : {1, 3, 0}) {
    CAPTURE(depth);
    for (int i = 0; i < depth; ++i) CHECK_NCCL(ncclGroupStart());
    for (size_t r = 0; r < ranks.size(); ++r) ranks.allReduce(r);
    for (int i = 0; i < depth; ++i) CHECK_NCCL(ncclGroupEnd());
    ranks.check(10);
  }
}

TEST_CASE("a thread makes all ranks of a communicator in a group") {
  constexpr int kRanks = 3;
  const ncclUniqueId id = newId();
  ncclComm_t comms[kRanks] = {};
  CHECK_NCCL(ncclGroupStart());
  for (int r = 0; r < kRanks; ++r) {
    cudaSetDevice(deviceOf(r));
    CHECK_NCCL(ncclCommInitRank(&comms[r], kRanks, id, r));
  }
  CHECK_NCCL(ncclGroupEnd());
  for (int r = 0; r < kRanks; ++r) {
    int number = -1;
    CHECK_NCCL(ncclCommUserRank(comms[r], &number));
    CHECK(number == r);
  }
  ncclComm_t parts[kRanks] = {};
  CHECK_NCCL(ncclGroupStart());
  for (int r = 0; r < kRanks; ++r) CHECK_NCCL(ncclCommSplit(comms[r], r == 0 ? 0 : 1, r, &parts[r], nullptr));
  CHECK_NCCL(ncclGroupEnd());
  for (int r = 0; r < kRanks; ++r) {
    int size = 0;
    CHECK_NCCL(ncclCommCount(parts[r], &size));
    CHECK(size == (r == 0 ? 1 : 2));
    CHECK_NCCL(ncclCommDestroy(parts[r]));
    CHECK_NCCL(ncclCommDestroy(comms[r]));
  }
}

TEST_CASE("messages in a group go in any order, and around a ring") {
  constexpr int kRanks = 4;
  const ncclUniqueId id = newId();
  onRanks(kRanks, [&](int rank) {
    const Comm comm(id, kRanks, rank);
    const RankStream stream;
    const Buffer send(kCount, static_cast<float>(rank)), recv(kCount, -1);
    const int next = (rank + 1) % kRanks, former = (rank + kRanks - 1) % kRanks;
    for (int round = 0; round < 3; ++round) {
      CHECK_NCCL(ncclGroupStart());
      if (rank % 2 == 0) CHECK_NCCL(ncclSend(send, kCount, ncclFloat32, next, comm, stream));
      CHECK_NCCL(ncclRecv(recv, kCount, ncclFloat32, former, comm, stream));
      if (rank % 2 != 0) CHECK_NCCL(ncclSend(send, kCount, ncclFloat32, next, comm, stream));
      CHECK_NCCL(ncclGroupEnd());
      CHECK(stream.synchronize());
      CHECK(recv.isAll(static_cast<float>(former)));
      recv.fill(-1);
    }
  });
}

TEST_CASE("a group has operations of several communicators and streams") {
  constexpr int kRanks = 3;
  const ncclUniqueId ids[] = {newId(), newId()};
  onRanks(kRanks, [&](int rank) {
    const Comm first(ids[0], kRanks, rank), second(ids[1], kRanks, rank);
    const RankStream streams[2];
    const Buffer send(kCount, 1), recv(kCount, 0), all(kCount * kRanks, 0);
    const auto reduce = [&] { CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, first, streams[0])); };
    CHECK_NCCL(ncclGroupStart());
    if (rank == 0) reduce();
    CHECK_NCCL(ncclAllGather(send, all, kCount, ncclFloat32, second, streams[1]));
    if (rank != 0) reduce();
    CHECK_NCCL(ncclGroupEnd());
    CHECK(streams[0].synchronize());
    CHECK(streams[1].synchronize());
    CHECK(recv.isAll(kRanks));
    CHECK(all.isAll(1));
  });
}

TEST_CASE("nothing of a group begins before all of its streams have come to it, and none goes on before its end") {
  const ncclUniqueId id = newId();
  onRanks(2, [&](int rank) {
    const Comm comm(id, 2, rank);
    const RankStream first, second;
    const Buffer send(kCount, 0), recv(kCount, 0), other(kCount, 0), copy(kCount, 0), ones(kCount, 1);
    Word word;
    word.letWait(second);
    CHECK(cudaMemcpyAsync(send, ones, kCount * sizeof(float), cudaMemcpyDeviceToDevice, second) == cudaSuccess);
    CHECK_NCCL(ncclGroupStart());
    CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, first));
    CHECK_NCCL(ncclAllReduce(ones, other, kCount, ncclFloat32, ncclMax, comm, second));
    CHECK_NCCL(ncclGroupEnd());
    CHECK_FALSE(comesToHold([&] { return cudaStreamQuery(first) == cudaSuccess; }, std::chrono::milliseconds(50)));
    word.open();
    CHECK(cudaMemcpyAsync(copy, recv, kCount * sizeof(float), cudaMemcpyDeviceToDevice, second) == cudaSuccess);
    CHECK(second.synchronize());
    CHECK(copy.isAll(2));
    CHECK(first.synchronize());
  });
}

TEST_CASE("no stream of a group goes on while another of its streams waits") {
  const ncclUniqueId id = newId();
  std::atomic<bool> isMostFound{false}, hasLooked{false};
  onRanks(2, [&](int rank) {
    const Comm comm(id, 2, rank);
    const RankStream first, second;
    const Buffer ones(kCount, 1), sum(kCount, 0), most(kCount, 0);
    const auto addUp = [&] { CHECK_NCCL(ncclAllReduce(ones, sum, kCount, ncclFloat32, ncclSum, comm, first)); };
    const auto findMost = [&] { CHECK_NCCL(ncclAllReduce(ones, most, kCount, ncclFloat32, ncclMax, comm, second)); };
    if (rank == 0) {
      CHECK_NCCL(ncclGroupStart());
      addUp();
      findMost();
      CHECK_NCCL(ncclGroupEnd());
      while (!isMostFound) std::this_thread::yield();
      CHECK_FALSE(comesToHold([&] { return cudaStreamQuery(second) == cudaSuccess; }, std::chrono::milliseconds(50)));
      hasLooked = true;
    } else {
      findMost();
      CHECK(second.synchronize());
      isMostFound = true;
      while (!hasLooked) std::this_thread::yield();
      addUp();
    }
    CHECK(second.synchronize());
    CHECK(first.synchronize());
    CHECK(sum.isAll(2));
  });
}

TEST_CASE("what is asked for in an inner group is done when the outer one ends") {
  cudaSetDevice(0);
  const Comm comm(newId(), 1, 0);
  const RankStream stream;
  const Buffer send(kCount, 4), recv(kCount, 0);
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclSend(send, kCount, ncclFloat32, 0, comm, stream));
  CHECK_NCCL(ncclGroupEnd());
  CHECK_NCCL(ncclRecv(recv, kCount, ncclFloat32, 0, comm, stream));
  CHECK_NCCL(ncclGroupEnd());
  CHECK(stream.synchronize());
  CHECK(recv.isAll(4));
}

TEST_CASE("a message to oneself waits for the stream that sends it, and its memory stays until it is read") {
  cudaSetDevice(0);
  const Comm comm(newId(), 1, 0);
  const RankStream from, to;
  const Buffer fives(kCount, 5), nines(kCount, 9), send(kCount, 0), recv(kCount, 0);
  const auto copy = [](const Buffer& into, const Buffer& of, cudaStream_t stream) {
    CHECK(cudaMemcpyAsync(into, of, kCount * sizeof(float), cudaMemcpyDeviceToDevice, stream) == cudaSuccess);
  };
  Word isWritten, mayReceive;
  isWritten.letWait(from);
  copy(send, fives, from);
  mayReceive.letWait(to);
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclRecv(recv, kCount, ncclFloat32, 0, comm, to));
  CHECK_NCCL(ncclSend(send, kCount, ncclFloat32, 0, comm, from));
  CHECK_NCCL(ncclGroupEnd());
  copy(send, nines, from);
  mayReceive.open();
  CHECK_FALSE(comesToHold([&] { return cudaStreamQuery(to) == cudaSuccess; }, std::chrono::milliseconds(50)));
  isWritten.open();
  CHECK(to.synchronize());
  CHECK(from.synchronize());
  CHECK(recv.isAll(5));
  CHECK(send.isAll(9));
}

TEST_CASE("what NCCL's documentation calls wrong completes: communicators in another order on each device") {
  Driven first(2), second(2);
  // A collective of each on each device, and the thread comes to the second device's last.
  first.allReduce(0);
  second.allReduce(0);
  second.allReduce(1);
  first.allReduce(1);
  first.check(3);
  second.check(3);
  // The same in groups, one a communicator, whose streams wait for each other crosswise.
  for (const size_t r : {size_t{0}, size_t{1}}) {
    Driven& one = r == 0 ? first : second;
    Driven& other = r == 0 ? second : first;
    CHECK_NCCL(ncclGroupStart());
    one.allReduce(r);
    CHECK_NCCL(ncclGroupEnd());
    CHECK_NCCL(ncclGroupStart());
    other.allReduce(r);
    CHECK_NCCL(ncclGroupEnd());
  }
  first.check(3);
  second.check(3);
}

TEST_CASE("a group that is not open can't be ended") {
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
  CHECK(std::string(ncclGetLastError(nullptr)).find("ncclGroupStart") != std::string::npos);
}

// Its siblings waited for the missing rank, ten minutes long, and the end told of that.
TEST_CASE("a communicator that can't be made in a group ends the waits of the others, and is the one told of") {
  cudaSetDevice(0);
  const ncclUniqueId id = newId();
  ncclComm_t comms[2] = {};
  CHECK_NCCL(ncclGroupStart());
  for (ncclComm_t& comm : comms) CHECK_NCCL(ncclCommInitRank(&comm, 2, id, 0));
  CHECK(ncclGroupEnd() == ncclInvalidArgument);
  CHECK(std::string(ncclGetLastError(nullptr)).find("Rank 0 of the communicator has come already.") !=
        std::string::npos);
  CHECK(comms[0] == nullptr);
  CHECK(comms[1] == nullptr);
}
