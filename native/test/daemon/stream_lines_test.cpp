// A stream's line whose runs come to the leader out of the order of their numbers, as where some had to wait for room.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "cpu/cpu_rank_memory.hpp"
#include "support/pending_tables.hpp"
#include "support/test_platform.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

struct KeepsTheOrderOfComing : AllRules {
  static constexpr bool ordersLines = false;
};

constexpr uint32_t kRuns = 12;

/// Runs of as many ids, all on one line, given to the leader in `order`; the stream comes to one after the other.
/// @return how many had begun each time, from none of them on.
template <class Rules>
std::vector<uint32_t> beginnings(const std::vector<uint32_t>& order) {
  CpuRankMemory memory(0, {1, 16, 16, 16, 64}, {});
  const PendingTables tables(memory);
  PendingRuns<TestPlatform<Rules>> pending(memory.pending);
  for (const uint32_t number : order) {
    Sqe sqe{};
    sqe.id = sqe.completionSlot = number;
    sqe.flags = kSqeBehindStream;
    sqe.run = sqeRunOfLine(3, number);
    REQUIRE(pending.mustWait(sqe));
    if (!pending.mayPass(sqe)) pending.hold(sqe);
  }
  std::vector<uint32_t> begun;
  uint32_t count = 0, opened = 0;
  for (uint32_t arrived = 0; arrived <= kRuns; ++arrived) {
    memory.pending.arrived[3].store(arrived, order::release);
    Sqe next;
    while (pending.mayHaveNext(arrived) && pending.next(next)) ++count;
    begun.push_back(count);
    const uint32_t now = memory.pending.opened[3].load(order::relaxed);
    CHECK_FALSE(isBefore(now, opened));
    opened = now;
  }
  return begun;
}

std::vector<uint32_t> upTo(uint32_t last) {
  std::vector<uint32_t> numbers;
  for (uint32_t n = 0; n <= last; ++n) numbers.push_back(n);
  return numbers;
}

}  // namespace

TEST_CASE("each run begins when its stream comes to it, in whatever order the runs of its line were read") {
  std::mt19937 random(3);
  std::vector<uint32_t> numbers = upTo(kRuns);
  numbers.erase(numbers.begin());
  for (int round = 0; round < 200; ++round) {
    std::shuffle(numbers.begin(), numbers.end(), random);
    CHECK(beginnings<AllRules>(numbers) == upTo(kRuns));
  }
}

TEST_CASE(
    "control: where a line keeps the order in which its runs came, the stream's next run waits behind a later one") {
  std::vector<uint32_t> backwards = upTo(kRuns);
  std::reverse(backwards.begin(), backwards.end());
  backwards.pop_back();
  CHECK(beginnings<KeepsTheOrderOfComing>(backwards) != upTo(kRuns));
}

TEST_CASE("a run that comes late, after its stream and after a later one, passes, and the line's count stays") {
  CpuRankMemory memory(0, {1, 16, 16, 16, 64}, {});
  const PendingTables tables(memory);
  PendingRuns<TestPlatform<AllRules>> pending(memory.pending);
  memory.pending.arrived[0].store(5, order::release);
  for (const uint32_t number : {5u, 2u}) {
    Sqe sqe{};
    sqe.id = sqe.completionSlot = number;
    sqe.flags = kSqeBehindStream;
    sqe.run = sqeRunOfLine(0, number);
    CHECK(pending.mayPass(sqe));
    CHECK(memory.pending.opened[0].load(order::relaxed) == 5);
  }
}
