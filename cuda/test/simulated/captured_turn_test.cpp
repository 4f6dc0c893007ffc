// Whose turn a lane of captured runs is, also where the numbers begin anew.
#include <doctest/doctest.h>

#include "device/captured/captured_lane.cuh"

using dfccl::gpu::CapturedTurn;

namespace {

constexpr uint32_t kLast = 0x7fffffff;

/// A lane that is done of so many runs, to all of which their blocks have come.
uint64_t wordAfter(uint32_t runs) { return uint64_t{runs} << 33 | uint64_t{runs} << 2; }

}  // namespace

TEST_CASE("a block that comes has the next run, and its turn when the runs before are done") {
  for (const uint32_t run : {0u, 1u, 12345u, kLast}) {
    INFO(run);
    const uint32_t next = (run + 1) & kLast;
    uint64_t word = wordAfter(run);
    CHECK(CapturedTurn(word).isTurnOf(run));
    CHECK(CapturedTurn(word).isAbandoned(run));
    CHECK(CapturedTurn(word).arrivals() == run);
    word += CapturedTurn::kArrival;
    CHECK_FALSE(CapturedTurn(word).isAbandoned(run));
    // A launch beside this one.
    CHECK(CapturedTurn(word).arrivals() == next);
    word += CapturedTurn::kArrival;
    CHECK_FALSE(CapturedTurn(word).isTurnOf(next));
    CHECK_FALSE(CapturedTurn(word).isDone(run));
    word += CapturedTurn::ending(run, CapturedTurn::isFree);
    CHECK(CapturedTurn(word).isDone(run));
    CHECK(CapturedTurn(word).isTurnOf(next));
    CHECK_FALSE(CapturedTurn(word).isDone(next));
    word += CapturedTurn::ending(next, CapturedTurn::isFree);
    CHECK(CapturedTurn(word).isDone(run));
    CHECK(CapturedTurn(word).isDone(next));
    CHECK(CapturedTurn(word).arrivals() == CapturedTurn(word).done());
  }
}

TEST_CASE("the first block does what nobody has come to, and what was left to it") {
  for (const uint32_t run : {0u, 7u, kLast}) {
    INFO(run);
    const uint64_t taken = CapturedTurn(wordAfter(run)).taken();
    CHECK_FALSE(CapturedTurn(taken).isAbandoned(run));
    // The owner comes too late, before and after the first block is done.
    const uint64_t met = taken + CapturedTurn::kArrival;
    CHECK(CapturedTurn(met).state() == CapturedTurn::isTaken);
    const uint64_t done = taken + CapturedTurn::ending(run, CapturedTurn::isTaken);
    CHECK(CapturedTurn(done).arrivals() == run);
    CHECK(CapturedTurn(done).isDone(run));
    CHECK(CapturedTurn(done).state() == CapturedTurn::isFree);

    const uint64_t left = wordAfter(run) + CapturedTurn::kArrival + CapturedTurn::leaving(CapturedTurn::isFree);
    CHECK(CapturedTurn(left).isAbandoned(run));
    CHECK(left + CapturedTurn::ending(run, CapturedTurn::isLeft) == wordAfter((run + 1) & kLast));
  }
}
