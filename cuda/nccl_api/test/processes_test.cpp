#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
// NCCL's functions, each rank a process.
#include "nccl_api/test/processes.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "call_beside.hpp"
#include "captured_graph.hpp"

using namespace dfccl::nccl::test;
using dfccl::gpu::test::comesToHold;

namespace {

/// A run that a rank doesn't come to whose process has ended, until that is told.
int missesOne(ncclComm_t comm, const Buffer& send, const Buffer& recv, cudaStream_t stream) {
  OK(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, stream));
  ncclResult_t error = ncclSuccess;
  while (error == ncclSuccess) OK(ncclCommGetAsyncError(comm, &error));
  EXPECT(error == ncclRemoteError);
  return kFine;
}

}  // namespace

TEST_CASE("processes make a communicator, sum up, and make further ones of it") {
  constexpr int kRanks = 3;
  onProcesses(kRanks, 2, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    const RankStream stream;
    ncclComm_t all = nullptr, pair = nullptr, again = nullptr;
    OK(ncclCommInitRank(&all, kRanks, ids[0], static_cast<int>(rank)));
    for (const size_t count : {1ul, 1000ul, 100'000ul}) EXPECT(sumOnes(all, stream, count) == kFine);
    OK(ncclCommSplit(all, rank == 1 ? -1 : 0, static_cast<int>(rank), &pair, nullptr));
    if (pair != nullptr) EXPECT(sumOnes(pair, stream, 100) == kFine);
    OK(ncclCommDestroy(all));
    OK(ncclCommInitRank(&again, kRanks, ids[1], kRanks - 1 - static_cast<int>(rank)));
    EXPECT(sumOnes(again, stream, 50) == kFine);
    OK(ncclCommDestroy(again));
    OK(ncclCommDestroy(pair));
    return kFine;
  });
}

TEST_CASE("communicators of some come before that of all, as in a framework that makes them when it needs them") {
  constexpr uint32_t kRanks = 4;
  onProcesses(kRanks, 5, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    const RankStream stream;
    const uint32_t row = rank / 2, column = rank % 2;
    ncclComm_t tensor = nullptr, data = nullptr, all = nullptr;
    OK(ncclCommInitRank(&tensor, 2, ids[row], static_cast<int>(column)));
    EXPECT(sumOnes(tensor, stream, 300) == kFine);
    OK(ncclCommInitRank(&data, 2, ids[2 + column], static_cast<int>(row)));
    EXPECT(sumOnes(data, stream, 300) == kFine);
    OK(ncclCommInitRank(&all, kRanks, ids[4], static_cast<int>(rank)));
    for (int i = 0; i < 5; ++i) {
      EXPECT(sumOnes(all, stream, 300) == kFine);
      EXPECT(sumOnes(tensor, stream, 300) == kFine);
      EXPECT(sumOnes(data, stream, 300) == kFine);
    }
    OK(ncclCommDestroy(tensor));
    OK(ncclCommDestroy(data));
    OK(ncclCommDestroy(all));
    return kFine;
  });
}

TEST_CASE("three communicators in random orders, synchronized at any time") {
  constexpr uint32_t kRanks = 2;
  constexpr size_t kComms = 3;
  onProcesses(kRanks, kComms, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    std::mt19937 random(rank);
    ncclComm_t comms[kComms];
    std::vector<std::unique_ptr<RankStream>> streams;
    std::vector<std::unique_ptr<Buffer>> send, recv;
    for (size_t c = 0; c < kComms; ++c) {
      OK(ncclCommInitRank(&comms[c], kRanks, ids[c], static_cast<int>(rank)));
      streams.push_back(std::make_unique<RankStream>());
      send.push_back(std::make_unique<Buffer>(kCount * (c + 1), static_cast<float>(rank + 1)));
      recv.push_back(std::make_unique<Buffer>(kCount * (c + 1), 0.0F));
    }
    size_t order[kComms] = {0, 1, 2};
    for (int round = 0; round < 30; ++round) {
      std::shuffle(std::begin(order), std::end(order), random);
      for (const size_t c : order) {
        OK(ncclAllReduce(*send[c], *recv[c], kCount * (c + 1), ncclFloat32, ncclSum, comms[c], *streams[c]));
      }
      if (random() % 3 == 0) EXPECT(streams[random() % kComms]->synchronize());
      if (random() % 5 == 0) EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    }
    for (size_t c = 0; c < kComms; ++c) {
      EXPECT(streams[c]->synchronize());
      EXPECT(recv[c]->isAll(3));
      OK(ncclCommDestroy(comms[c]));
    }
    return kFine;
  });
}

TEST_CASE("a process that ends is told of to those who wait for it, and an abort lets their streams go") {
  onProcesses(2, 1, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 2, ids[0], static_cast<int>(rank)));
    const RankStream stream;
    EXPECT(sumOnes(comm, stream, 10) == kFine);
    if (rank == 1) _exit(kFine);
    const Buffer send(kCount, 1), recv(kCount, 0);
    EXPECT(missesOne(comm, send, recv, stream) == kFine);
    OK(ncclCommAbort(comm));
    EXPECT(stream.synchronize());
    return kFine;
  });
}

TEST_CASE("those whom a process has left go on without it, and another takes its place") {
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto& isThere = *new (memory) std::atomic<uint32_t>(0);
  auto& joining = *reinterpret_cast<ncclUniqueId*>(static_cast<char*>(memory) + 64);
  onProcesses(4, 1, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    const RankStream stream;
    ncclComm_t grown = nullptr;
    if (rank == 3) {
      while (isThere == 0) std::this_thread::yield();
      OK(ncclCommGrow(nullptr, 3, &joining, 2, &grown, nullptr));
      EXPECT(sumOnes(grown, stream, 1000) == kFine);
      OK(ncclCommDestroy(grown));
      return kFine;
    }
    ncclComm_t comm = nullptr, rest = nullptr;
    OK(ncclCommInitRank(&comm, 3, ids[0], static_cast<int>(rank)));
    EXPECT(sumOnes(comm, stream, 10) == kFine);
    if (rank == 1) _exit(kFine);
    const Buffer send(kCount, 1), recv(kCount, 0);
    EXPECT(missesOne(comm, send, recv, stream) == kFine);
    int excluded[] = {1};
    OK(ncclCommShrink(comm, excluded, 1, &rest, nullptr, 1));
    EXPECT(stream.synchronize());
    OK(ncclCommDestroy(comm));
    for (int i = 0; i < 3; ++i) EXPECT(sumOnes(rest, stream, 1000) == kFine);
    if (rank == 0) {
      OK(ncclCommGetUniqueId(rest, &joining));
      isThere = 1;
    }
    OK(ncclCommGrow(rest, 3, nullptr, -1, &grown, nullptr));
    OK(ncclCommDestroy(rest));
    EXPECT(sumOnes(grown, stream, 1000) == kFine);
    OK(ncclCommDestroy(grown));
    return kFine;
  });
  munmap(memory, 4096);
}

TEST_CASE("a process may end without destroying anything") {
  onProcesses(2, 1, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 2, ids[0], static_cast<int>(rank)));
    const RankStream stream;
    EXPECT(sumOnes(comm, stream, 1000) == kFine);
    std::exit(kFine);
  });
}

TEST_CASE("by position, collectives and each pair's messages are counted apart, and those in another order wait") {
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto& come = *new (memory) std::atomic<uint32_t>(0);
  onProcesses(2, 1, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    const auto meet = [&](uint32_t times) {
      ++come;
      while (come < 2 * times) std::this_thread::yield();
    };
    setenv("DFCCL_MATCH", "position", 1);
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 2, ids[0], static_cast<int>(rank)));
    const RankStream sums, messages, mosts;
    const Buffer ones(kCount, 1), sum(kCount, 0), received(kCount, 0), most(kCount, 0);
    const auto addUp = [&] { return ncclAllReduce(ones, sum, kCount, ncclFloat32, ncclSum, comm, sums); };
    const auto findMost = [&] { return ncclAllReduce(ones, most, kCount, ncclFloat32, ncclMax, comm, mosts); };
    // Ranks have other numbers of messages, and of what was refused.
    if (rank == 0) {
      OK(ncclSend(ones, kCount, ncclFloat32, 1, comm, messages));
      EXPECT(ncclAllReduce(nullptr, sum, kCount, ncclFloat32, ncclSum, comm, sums) == ncclInvalidArgument);
      EXPECT(ncclSend(ones, kCount, ncclFloat32, -1, comm, messages) == ncclInvalidArgument);
    }
    OK(addUp());
    if (rank == 1) OK(ncclRecv(received, kCount, ncclFloat32, 0, comm, messages));
    EXPECT(messages.synchronize());
    EXPECT(sums.synchronize());
    EXPECT(sum.isAll(2));
    if (rank == 1) EXPECT(received.isAll(1));
    if (rank == 0) OK(addUp());
    OK(findMost());
    if (rank == 1) OK(addUp());
    meet(1);
    EXPECT(!comesToHold([&] { return cudaStreamQuery(sums) == cudaSuccess || cudaStreamQuery(mosts) == cudaSuccess; },
                        std::chrono::milliseconds(50)));
    meet(2);
    OK(ncclCommAbort(comm));
    EXPECT(sums.synchronize());
    EXPECT(mosts.synchronize());
    return kFine;
  });
  munmap(memory, 4096);
}

TEST_CASE("where graphs meet by their launches, a rank may have two that its peer has one for") {
  onProcesses(2, 1, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    setenv("DFCCL_MATCH_GRAPHS", "launches", 1);
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 2, ids[0], static_cast<int>(rank)));
    const RankStream stream;
    const Buffer ones(kCount, 1), first(kCount, 0), second(kCount, 0);
    int device = 0;
    EXPECT(cudaGetDevice(&device) == cudaSuccess);
    const auto captureSum = [&](const Buffer& sum) {
      return dfccl::gpu::test::Graph(device, stream, [&] {
        CHECK(ncclAllReduce(ones, sum, kCount, ncclFloat32, ncclSum, comm, stream) == ncclSuccess);
      });
    };
    {
      const auto one = captureSum(first);
      if (rank == 0) {
        const auto other = captureSum(second);
        other.launch(stream);
      }
      for (uint32_t launch = 0; launch < 1 + rank; ++launch) one.launch(stream);
      EXPECT(stream.synchronize());
    }
    EXPECT(first.isAll(2));
    if (rank == 0) EXPECT(second.isAll(2));
    OK(ncclCommDestroy(comm));
    return kFine;
  });
}
