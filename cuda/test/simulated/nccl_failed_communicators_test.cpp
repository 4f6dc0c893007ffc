// Communicators that can't be made, and what is left of their making.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

#include "child.hpp"
#include "nccl_api/test/ranks.hpp"
#include "simulated/memory_table.hpp"

using namespace dfccl::nccl::test;
using dfccl::gpu::test::Child;
using dfccl::gpu::test::runSelf;

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

namespace {

void meetOnce() {
  std::array<ncclComm_t, kRanks> comms{};
  for (const ncclResult_t result : makeAll(newId(), comms)) CHECK(result == ncclSuccess);
}

const Child meetingOnce("ranks meet once", meetOnce);

}  // namespace

TEST_CASE("where ranks meet, what killed processes have left of other meetings is taken away, and nothing else") {
  const std::string left = "/dev/shm/dfccl-nccl-left-" + std::to_string(getpid());
  const std::string held = "/dev/shm/dfccl-nccl-held-" + std::to_string(getpid());
  close(open(left.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  const int descriptor = open(held.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  REQUIRE(flock(descriptor, LOCK_SH) == 0);
  CHECK(runSelf({}, {{"DFCCL_TEST_CHILD", "ranks meet once"}}, std::chrono::seconds(60)).code == 0);
  CHECK(access(left.c_str(), F_OK) != 0);
  CHECK(access(held.c_str(), F_OK) == 0);
  unlink(left.c_str());
  unlink(held.c_str());
  close(descriptor);
}
