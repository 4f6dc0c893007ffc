// Collectives that are kernels in their streams, where each rank is a process.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "captured_graph.hpp"
#include "nccl_api/test/processes.hpp"

using namespace dfccl::nccl::test;

// Only the ranks of a split's part that see it otherwise would wait for each other.
TEST_CASE("ranks that allow different sizes in streams come to the same ones") {
  onProcesses(2, 1, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    setenv("DFCCL_BYTES_IN_STREAMS", rank == 0 ? "100" : "1000000", 1);
    ncclComm_t comm = nullptr, part = nullptr;
    OK(ncclCommInitRank(&comm, 2, ids[0], static_cast<int>(rank)));
    OK(ncclCommSplit(comm, 0, 0, &part, nullptr));
    for (const ncclComm_t one : {comm, part}) {
      const RankStream stream;
      const Buffer ones(kCount, 1), sum(kCount, 0);
      for (const size_t count : {size_t{1}, kCount}) {
        OK(ncclAllReduce(ones, sum, count, ncclFloat32, ncclSum, one, stream));
        EXPECT(stream.synchronize());
        EXPECT(sum.isAll(2, 0, count));
      }
    }
    OK(ncclCommDestroy(part));
    OK(ncclCommDestroy(comm));
    return kFine;
  });
}

// It was taken for missing, and the others' run was given up.
TEST_CASE("a rank that has done its part of a broadcast may end before another one comes to it") {
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& ended = *new (memory) std::atomic<pid_t>{0};
  onProcesses(3, 1, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 3, ids[0], static_cast<int>(rank)));
    const RankStream stream;
    const Buffer ones(kCount, 1), got(kCount, 0);
    const auto broadcast = [&] { return ncclBroadcast(ones, got, kCount, ncclFloat32, 2, comm, stream); };
    OK(broadcast());
    EXPECT(stream.synchronize());
    got.fill(0);
    // Looked for every second.
    if (rank == 1) {
      while (ended == 0) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(3500));
    }
    OK(broadcast());
    if (rank != 2) {
      EXPECT(stream.synchronize());
      EXPECT(got.isAll(1));
    }
    if (rank == 0) ended = getpid();
    EXPECT(stream.synchronize());
    ncclResult_t error = ncclSuccess;
    OK(ncclCommGetAsyncError(comm, &error));
    EXPECT(error == ncclSuccess);
    OK(ncclCommDestroy(comm));
    return kFine;
  });
  munmap(memory, 4096);
}

TEST_CASE("where graphs meet by their launches, a rank may capture what its peer puts into a stream") {
  onProcesses(2, 1, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    setenv("DFCCL_MATCH_GRAPHS", "launches", 1);
    ncclComm_t comm = nullptr;
    OK(ncclCommInitRank(&comm, 2, ids[0], static_cast<int>(rank)));
    const RankStream stream;
    const Buffer ones(kCount, 1), sum(kCount, 0);
    int device = 0;
    EXPECT(cudaGetDevice(&device) == cudaSuccess);
    const auto addUp = [&] {
      CHECK(ncclAllReduce(ones, sum, kCount, ncclFloat32, ncclSum, comm, stream) == ncclSuccess);
    };
    {
      const dfccl::gpu::test::Graph graph(device, stream, addUp);
      for (uint32_t round = 0; round < 6; ++round) {
        // By turns, so each rank has its runs of both kinds in one order.
        if (round % 2 == rank) {
          graph.launch(stream);
        } else {
          addUp();
        }
        EXPECT(stream.synchronize());
        EXPECT(sum.isAll(2));
        sum.fill(0);
      }
    }
    OK(ncclCommDestroy(comm));
    return kFine;
  });
}
