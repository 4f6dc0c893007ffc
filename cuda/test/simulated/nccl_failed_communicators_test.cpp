// Communicators that can't be made.
#include <array>

#include "nccl_api/test/ranks.hpp"
#include "simulated/memory_table.hpp"

using namespace dfccl::nccl::test;

namespace {

constexpr int kRanks = 9;  // more than the worlds have that other tests have left, one of which would do
constexpr size_t kOfWorld = size_t{1} << 20;  // what a rank of a world has is more, and other pieces are less

std::array<ncclResult_t, kRanks> makeAll(const ncclUniqueId& id, std::array<ncclComm_t, kRanks>& comms) {
  std::array<ncclResult_t, kRanks> results{};
  onRanks(kRanks, [&](int rank) { results[rank] = ncclCommInitRank(&comms[rank], kRanks, id, rank); });
  return results;
}

}  // namespace

// A rank that has one waits in its first collective for those that haven't, and nobody tells it.
TEST_CASE("where the memory for threads' communicators is short, no rank has one, and the next are made") {
  std::array<ncclComm_t, kRanks> comms{};
  dfccl::gpu::simulated::refuseNextPiece(kOfWorld);
  for (const ncclResult_t result : makeAll(newId(), comms)) CHECK(result == ncclSystemError);
  for (const ncclComm_t comm : comms) CHECK(comm == nullptr);
  for (const ncclResult_t result : makeAll(newId(), comms)) CHECK(result == ncclSuccess);
  for (const ncclComm_t comm : comms) CHECK_NCCL(ncclCommDestroy(comm));
}
