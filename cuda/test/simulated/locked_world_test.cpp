// What a rank can't have while another holds the world's lock, and that nothing is half done then.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "processes/segment.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"
#include "simulated/joined_rank.hpp"

using namespace dfccl::gpu::simulated::test;
using dfccl::Segment;

namespace {

/// The memory of the world that a process is in, as whoever looks at it from outside sees it.
std::shared_ptr<Segment> segmentOf(pid_t process) {
  for (const auto& link : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(link, error) != "/memfd:dfccl (deleted)") continue;
    const int descriptor = open(link.path().c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor >= 0) return Segment::observe(descriptor);
  }
  return nullptr;
}

struct Board {
  SharedCount joined, isLocked, hasAsked, isFree;
};

/// Registers, runs and unregisters more at a time than a rank lets rest before it gives their places to others, and in
/// the end all that were ever given back.
int useManyPlaces(const Joined& me) {
  constexpr int kMost = 120;
  constexpr size_t kCount = 16;
  int32_t *in = allocate(kCount), *out = allocate(kCount * kMost);
  for (const int atOnce : {100, kMost}) {
    fill(in, kCount, me.rank, atOnce);
    for (int id = 0; id < atOnce; ++id) {
      OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, me.context));
      OK(dfcclRun(in, out + static_cast<size_t>(id) * kCount, id, nullptr, nullptr, me.context));
    }
    OK(dfcclWaitFor(kLimitMicros, me.context));
    for (int id = 0; id < atOnce; ++id) {
      EXPECT(isSum(out + static_cast<size_t>(id) * kCount, kCount, firstRanks(2), atOnce));
    }
    for (int id = 0; id < atOnce; ++id) OK(dfcclUnregister(id, me.context));
    OK(dfcclSynchronize(me.context));  // the daemon is out, then
  }
  return kFine;
}

}  // namespace

TEST_CASE("an unregistering that times out has done nothing, and can be asked for again") {
  const std::string job = newJob();
  const SharedBoard<Board> board;
  Processes processes(2, [&](uint32_t rank) -> int {
    setenv("DFCCL_MAP_BUFFERS", "1", 1);
    Joined me;
    EXPECT(join(me, job, rank, 2) == kFine);
    int32_t* const data = allocate(16);
    OK(dfcclRegisterAllReduce(16, dfcclInt32, dfcclSum, 7, dfcclAllRanks(), 0, me.context));
    OK(dfcclRun(data, data, 7, nullptr, nullptr, me.context));
    OK(dfcclWaitFor(kLimitMicros, me.context));
    board->joined.add(1);
    EXPECT(board->isLocked.await(1));
    if (rank == 0) {
      EXPECT(dfcclUnregister(7, me.context) == dfcclTimeout);
      board->hasAsked.add(1);
    }
    EXPECT(board->isFree.await(1));
    OK(dfcclRun(data, data, 7, nullptr, nullptr, me.context));
    OK(dfcclWaitFor(kLimitMicros, me.context));
    OK(dfcclUnregister(7, me.context));
    EXPECT(useManyPlaces(me) == kFine);
    return leave(me);
  });
  REQUIRE(board->joined.await(2));
  {
    const std::shared_ptr<Segment> segment = segmentOf(processes[0]);
    REQUIRE(segment != nullptr);
    const Segment::Lock lock(*segment);
    board->isLocked.add(1);
    CHECK(board->hasAsked.await(1));
  }
  board->isFree.add(1);
  for (const uint32_t rank : {0u, 1u}) CHECK(processes.join(rank) == kFine);
}
