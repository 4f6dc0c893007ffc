// Inputs that are scaled before they are summed, where it can be seen when a stream has come to it.
#include "simulated/nccl_scaling.hpp"

#include <atomic>
#include <thread>

#include "captured_graph.hpp"
#include "child.hpp"
#include "nccl_api/test/ranks.hpp"
#include "simulated/modules.hpp"

using namespace dfccl::nccl::test;
using dfccl::gpu::simulated::moduleLoads;
using dfccl::gpu::test::Child;
using dfccl::gpu::test::Graph;
using dfccl::gpu::test::runSelf;

namespace {

/// All kinds of calls that launch a kernel of the library's, behind each other. @return how many modules that loaded.
uint64_t loadsOfCalls() {
  cudaSetDevice(0);
  const Comm comm(newId(), 1, 0);
  const RankStream stream;
  const Buffer send(kCount, 2), recv(kCount, 0);
  float scalar = 3;
  ncclRedOp_t threefold{};
  CHECK_NCCL(ncclRedOpCreatePreMulSum(&threefold, &scalar, ncclFloat32, ncclScalarHostImmediate, comm));
  const uint64_t before = moduleLoads();
  CHECK(before > 0);
  const auto reduce = [&](ncclRedOp_t op, cudaStream_t on) {
    CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, op, comm, on));
    CHECK_NCCL(ncclReduceScatter(send, recv, kCount, ncclFloat32, op, comm, on));
  };
  for (const ncclRedOp_t op : {ncclSum, threefold}) {
    reduce(op, stream);
    CHECK(stream.synchronize());
    CHECK(recv.isAll(op == ncclSum ? 2 : 6));
    reduce(op, nullptr);
    CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
    const Graph graph(
        0, stream, [&] { reduce(op, stream); }, cudaStreamCaptureModeThreadLocal);
    for (int i = 0; i < 2; ++i) graph.launch(stream);
    CHECK(stream.synchronize());
    CHECK(recv.isAll(op == ncclSum ? 2 : 6));
  }
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  return moduleLoads() - before;
}

// In a process of its own, in which nothing has been loaded.
const Child callsAlone("calls of NCCL's", [] { CHECK(loadsOfCalls() == 0); });

}  // namespace

// CUDA loads a module when the device is idle, which it never is where a stream waits for what comes behind that call.
TEST_CASE("what the library's kernels take is loaded when a communicator is made, and nothing later") {
  CHECK(runSelf({}, {{"DFCCL_TEST_CHILD", "calls of NCCL's"}}, std::chrono::seconds(60)).code == 0);
}

TEST_CASE("scaled inputs of runs that wait at a time don't share memory") {
  const ncclUniqueId id = newId();
  std::atomic<bool> areQueued{false};
  onRanks(2, [&](int rank) {
    const Comm comm(id, 2, rank);
    const RankStream streams[2];
    const Buffer ones(2 * kCount, 1), twofold(kCount, 0), tenfold(kCount, 0);
    const auto scaledBy = [&](float scalar) {
      ncclRedOp_t op{};
      CHECK_NCCL(ncclRedOpCreatePreMulSum(&op, &scalar, ncclFloat32, ncclScalarHostImmediate, comm));
      return op;
    };
    while (rank == 1 && !areQueued) std::this_thread::yield();
    const uint32_t before = scalings();
    CHECK_NCCL(ncclReduceScatter(ones, twofold, kCount, ncclFloat32, scaledBy(2), comm, streams[0]));
    CHECK_NCCL(ncclReduce(ones, tenfold, kCount, ncclFloat32, scaledBy(10), 1, comm, streams[1]));
    if (rank == 0) {
      while (scalings() != before + 2) std::this_thread::yield();
      areQueued = true;
    }
    for (const RankStream& stream : streams) CHECK(stream.synchronize());
    CHECK(twofold.isAll(4));
    if (rank == 1) CHECK(tenfold.isAll(20));
  });
}
