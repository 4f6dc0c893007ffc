// Inputs that are scaled before they are summed, where it can be seen when a stream has come to it.
#include "simulated/nccl_scaling.hpp"

#include <atomic>
#include <thread>

#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;

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
