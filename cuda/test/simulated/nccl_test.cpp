// NCCL's functions over simulated devices, ranks as threads.
#include "simulated/nccl_ranks.hpp"

using namespace dfccl::gpu::simulated::test;

TEST_CASE("threads make a communicator of a unique id, and sum up in it") {
  constexpr int kRanks = 4;
  constexpr size_t kCount = 1000;
  ncclUniqueId id;
  REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
  onRanks(kRanks, [&](int rank) {
    ncclComm_t comm = nullptr;
    CHECK_NCCL(ncclCommInitRank(&comm, kRanks, id, rank));
    int size = 0, number = -1, device = -1;
    CHECK_NCCL(ncclCommCount(comm, &size));
    CHECK_NCCL(ncclCommUserRank(comm, &number));
    CHECK_NCCL(ncclCommCuDevice(comm, &device));
    CHECK(size == kRanks);
    CHECK(number == rank);
    CHECK(device == rank);
    const RankStream stream;
    Buffer send(kCount, static_cast<float>(rank + 1)), recv(kCount, 0);
    CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, stream));
    CHECK(stream.synchronize());
    CHECK(recv.isAll(10));
    CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclMax, comm, stream));
    CHECK(stream.synchronize());
    CHECK(recv.isAll(4));
    CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclMin, comm, stream));
    CHECK(stream.synchronize());
    CHECK(recv.isAll(1));
    ncclResult_t error = ncclInProgress;
    CHECK_NCCL(ncclCommGetAsyncError(comm, &error));
    CHECK(error == ncclSuccess);
    CHECK_NCCL(ncclCommDestroy(comm));
  });
}

TEST_CASE("a thread drives all devices") {
  constexpr int kRanks = 4;
  constexpr size_t kCount = 3000;
  ncclComm_t comms[kRanks];
  CHECK_NCCL(ncclCommInitAll(comms, kRanks, nullptr));
  std::vector<std::unique_ptr<Buffer>> send, recv;
  std::vector<std::unique_ptr<RankStream>> streams;
  for (int r = 0; r < kRanks; ++r) {
    cudaSetDevice(r);
    send.push_back(std::make_unique<Buffer>(kCount, static_cast<float>(r)));
    recv.push_back(std::make_unique<Buffer>(kCount, 0.0F));
    streams.push_back(std::make_unique<RankStream>());
  }
  CHECK_NCCL(ncclGroupStart());
  for (size_t r = 0; r < kRanks; ++r) {
    CHECK_NCCL(ncclAllReduce(*send[r], *recv[r], kCount, ncclFloat32, ncclSum, comms[r], *streams[r]));
  }
  CHECK_NCCL(ncclGroupEnd());
  for (size_t r = 0; r < kRanks; ++r) {
    CHECK(streams[r]->synchronize());
    CHECK(recv[r]->isAll(6));
    CHECK_NCCL(ncclCommDestroy(comms[r]));
  }
}
