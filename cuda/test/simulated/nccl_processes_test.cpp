#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
// NCCL's functions over simulated devices, each rank a process.
#include <algorithm>
#include <random>
#include <string>

#include "processes/support/expect.hpp"
#include "processes/support/processes.hpp"
#include "simulated/nccl_ranks.hpp"

using namespace dfccl::gpu::simulated::test;
using dfccl::test::kFine;
using dfccl::test::kWrong;
using dfccl::test::Processes;

namespace {

#define OK(call)                                                                                     \
  do {                                                                                               \
    if ((call) != ncclSuccess) {                                                                     \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, ncclGetLastError(nullptr)); \
      return kWrong;                                                                                 \
    }                                                                                                \
  } while (false)

/// Ids made beforehand, as a program's store would hand them on.
std::vector<ncclUniqueId> newIds(size_t count) {
  std::vector<ncclUniqueId> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back(newId());
  return ids;
}

void checkAllFine(Processes& processes, uint32_t count) {
  for (uint32_t r = 0; r < count; ++r) CHECK(processes.join(r) == kFine);
}

/// A rank's sum of ones in a communicator.
int sumOnes(ncclComm_t comm, cudaStream_t stream, size_t count) {
  int size = 0;
  OK(ncclCommCount(comm, &size));
  const Buffer send(count, 1), recv(count, 0);
  OK(ncclAllReduce(send, recv, count, ncclFloat32, ncclSum, comm, stream));
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  EXPECT(recv.isAll(static_cast<float>(size)));
  return kFine;
}

}  // namespace

TEST_CASE("processes make a communicator, sum up, and make further ones of it") {
  constexpr int kRanks = 3;
  const std::vector<ncclUniqueId> ids = newIds(2);
  Processes processes(kRanks, [&](uint32_t rank) -> int {
    cudaSetDevice(static_cast<int>(rank));
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
  checkAllFine(processes, kRanks);
}

TEST_CASE("communicators of some come before that of all, as in a framework that makes them when it needs them") {
  constexpr uint32_t kRanks = 4;
  const std::vector<ncclUniqueId> ids = newIds(5);
  Processes processes(kRanks, [&](uint32_t rank) -> int {
    cudaSetDevice(static_cast<int>(rank));
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
  checkAllFine(processes, kRanks);
}

TEST_CASE("three communicators in random orders, synchronized at any time") {
  constexpr uint32_t kRanks = 2;
  constexpr size_t kComms = 3;
  const std::vector<ncclUniqueId> ids = newIds(kComms);
  Processes processes(kRanks, [&](uint32_t rank) -> int {
    cudaSetDevice(static_cast<int>(rank));
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
  checkAllFine(processes, kRanks);
}

TEST_CASE("a process that ends is told of to those who wait for it, and an abort lets their streams go") {
  const std::vector<ncclUniqueId> ids = newIds(1);
  Processes processes(2, [&](uint32_t rank) -> int {
    cudaSetDevice(static_cast<int>(rank));
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 2, ids[0], static_cast<int>(rank)));
    const RankStream stream;
    EXPECT(sumOnes(comm, stream, 10) == kFine);
    if (rank == 1) _exit(kFine);
    const Buffer send(kCount, 1), recv(kCount, 0);
    OK(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, stream));
    ncclResult_t error = ncclSuccess;
    while (error == ncclSuccess) OK(ncclCommGetAsyncError(comm, &error));
    EXPECT(error == ncclRemoteError);
    OK(ncclCommAbort(comm));
    EXPECT(stream.synchronize());
    return kFine;
  });
  checkAllFine(processes, 2);
}

TEST_CASE("a process may end without destroying anything") {
  const std::vector<ncclUniqueId> ids = newIds(1);
  Processes processes(2, [&](uint32_t rank) -> int {
    cudaSetDevice(static_cast<int>(rank));
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 2, ids[0], static_cast<int>(rank)));
    const RankStream stream;
    EXPECT(sumOnes(comm, stream, 1000) == kFine);
    std::exit(kFine);
  });
  checkAllFine(processes, 2);
}
