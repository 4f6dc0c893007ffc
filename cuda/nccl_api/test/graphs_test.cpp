// What programs capture of NCCL's calls, and launch again and again.
#include <atomic>
#include <thread>

#include "call_beside.hpp"
#include "captured_graph.hpp"
#include "nccl_api/calls/communicator.hpp"
#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;
using dfccl::gpu::test::comesToHold;
using dfccl::gpu::test::Graph;

namespace {

constexpr int kGraphRanks = 3;

/// Other ranks' threads allocate meanwhile.
template <class Record>
Graph capture(int rank, const RankStream& stream, const Record& record) {
  return Graph(deviceOf(rank), stream, record, cudaStreamCaptureModeThreadLocal);
}

void launch(const Graph& graph, const RankStream& stream) {
  graph.launch(stream);
  CHECK(stream.synchronize());
}

}  // namespace

TEST_CASE("collectives, groups of messages, and scaled sums are carried out by a graph") {
  const ncclUniqueId id = newId();
  onRanks(kGraphRanks, [&](int rank) {
    const Comm comm(id, kGraphRanks, rank);
    const RankStream stream;
    const Buffer send(kGraphRanks * kCount, 0), sum(kCount, 0), part(kCount, 0), exchanged(kGraphRanks * kCount, 0),
        got(kCount, 0);
    const int right = (rank + 1) % kGraphRanks, left = (rank + kGraphRanks - 1) % kGraphRanks;
    const float two = 2;
    ncclRedOp_t doubled{};
    CHECK_NCCL(
        ncclRedOpCreatePreMulSum(&doubled, const_cast<float*>(&two), ncclFloat32, ncclScalarHostImmediate, comm));
    const Graph graph = capture(rank, stream, [&] {
      CHECK_NCCL(ncclAllReduce(send, sum, kCount, ncclFloat32, ncclSum, comm, stream));
      CHECK_NCCL(ncclReduceScatter(send, part, kCount, ncclFloat32, doubled, comm, stream));
      CHECK(cudaMemcpyAsync(exchanged, send, kGraphRanks * kCount * sizeof(float), cudaMemcpyDeviceToDevice, stream) ==
            cudaSuccess);
      CHECK_NCCL(ncclAlltoAll(exchanged, exchanged, kCount, ncclFloat32, comm, stream));
      CHECK_NCCL(ncclGroupStart());
      CHECK_NCCL(ncclSend(sum, kCount, ncclFloat32, right, comm, stream));
      CHECK_NCCL(ncclRecv(got, kCount, ncclFloat32, left, comm, stream));
      CHECK_NCCL(ncclGroupEnd());
    });
    for (int round = 0; round < 10; ++round) {
      const auto own = static_cast<float>(rank + round);
      const auto all = static_cast<float>(kGraphRanks * (kGraphRanks - 1) / 2 + kGraphRanks * round);
      send.fill(own);
      launch(graph, stream);
      CHECK(sum.isAll(all));
      CHECK(part.isAll(2 * all));
      for (int from = 0; from < kGraphRanks; ++from) {
        CHECK(exchanged.isAll(static_cast<float>(from + round), static_cast<size_t>(from) * kCount, kCount));
      }
      CHECK(got.isAll(all));
      // The same call without a graph.
      CHECK_NCCL(ncclAllReduce(send, sum, kCount, ncclFloat32, ncclSum, comm, stream));
      CHECK(stream.synchronize());
      CHECK(sum.isAll(all));
    }
    CHECK_NCCL(ncclRedOpDestroy(doubled, comm));
  });
}

TEST_CASE("a launch that waits for a rank ends when the communicator is aborted") {
  const ncclUniqueId id = newId();
  std::atomic<int> over{0};
  onRanks(2, [&](int rank) {
    ncclComm_t comm = nullptr;
    CHECK_NCCL(ncclCommInitRank(&comm, 2, id, rank));
    const RankStream stream;
    const Buffer buffer(kCount, 1);
    {
      const Graph graph = capture(
          rank, stream, [&] { CHECK_NCCL(ncclAllReduce(buffer, buffer, kCount, ncclFloat32, ncclSum, comm, stream)); });
      launch(graph, stream);
      CHECK(buffer.isAll(2));
      // What a rank gives up ends the other's launch too, where that still looks for what it was sent.
      ++over;
      while (over != 2) std::this_thread::yield();
      if (rank == 0) {
        std::thread waiting([&] { launch(graph, stream); });
        CHECK_NCCL(ncclCommAbort(comm));
        waiting.join();
      } else {
        CHECK_NCCL(ncclCommAbort(comm));
      }
    }
  });
}

// The capture was over by then.
TEST_CASE("memory is allocated and freed while a stream captures") {
  cudaSetDevice(0);
  const Comm comm(newId(), 1, 0);
  const RankStream stream;
  const Buffer send(kCount, 5), recv(kCount, 0);
  void* former = nullptr;
  void* memory = nullptr;
  CHECK_NCCL(ncclMemAlloc(&former, kCount));
  const Graph graph(0, stream, [&] {
    CHECK_NCCL(ncclMemAlloc(&memory, kCount));
    CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, stream));
    CHECK_NCCL(ncclMemFree(former));
  });
  launch(graph, stream);
  CHECK(recv.isAll(5));
  CHECK_NCCL(ncclMemFree(memory));
}

// A capture took it for its own, and cleared it.
TEST_CASE("an error of CUDA's that the program has not asked for yet stays, and is nobody else's") {
  cudaSetDevice(0);
  const Comm comm(newId(), 1, 0);
  const RankStream stream;
  const Buffer send(kCount, 5), recv(kCount, 0);
  float two = 2;
  ncclRedOp_t doubled{};
  CHECK_NCCL(ncclRedOpCreatePreMulSum(&doubled, &two, ncclFloat32, ncclScalarHostImmediate, comm));
  const auto reduce = [&] { CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, doubled, comm, stream)); };
  const auto leaveError = [] { CHECK(cudaSetDevice(-1) == cudaErrorInvalidDevice); };
  leaveError();
  reduce();
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  const Graph graph(0, stream, [&] {
    leaveError();
    reduce();
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  });
  launch(graph, stream);
  CHECK(recv.isAll(10));
}

// The communicator kept it: for ever, where a program captures again and again, and not for as long as there were
// graphs of it.
TEST_CASE("scratch of scaled sums is a graph's for as long as there is the graph") {
  cudaSetDevice(0);
  auto comm = std::make_unique<Comm>(newId(), 1, 0);
  const auto communicator = dfccl::nccl::Communicators::find(*comm);
  const std::shared_ptr<dfccl::nccl::Universe> universe = communicator->universe();
  const int universeRank = communicator->universeRank();
  constexpr size_t kBytes = kCount * sizeof(float);
  const auto next = [&] {
    return universe->scratch().take(universeRank, universe->context(universeRank), kBytes).get();
  };
  const RankStream stream;
  const Buffer send(kCount, 5), recv(kCount, 0);
  float two = 2;
  ncclRedOp_t doubled{};
  CHECK_NCCL(ncclRedOpCreatePreMulSum(&doubled, &two, ncclFloat32, ncclScalarHostImmediate, *comm));
  const auto reduce = [&] { CHECK_NCCL(ncclReduceScatter(send, recv, kCount, ncclFloat32, doubled, *comm, stream)); };
  const void* const first = next();
  for (int i = 0; i < 3; ++i) {
    {
      const Graph graph(0, stream, reduce);
      CHECK(next() != first);
      launch(graph, stream);
      CHECK(recv.isAll(10));
    }
    // CUDA lets go of what a graph keeps some time after the graph is destroyed.
    CHECK(comesToHold([&] { return next() == first; }));
  }
  {
    const Graph graph(0, stream, reduce);
    comm.reset();
    CHECK(next() != first);
  }
  CHECK(comesToHold([&] { return next() == first; }));
}
