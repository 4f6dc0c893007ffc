// Runs that wait for their turn: what is next by age and by id, and that nothing is lost or given twice.
#include "world/backlog.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <random>

using namespace dfccl;

namespace {

SubmittedRun run(uint32_t id, uint64_t number) {
  SubmittedRun r{};
  r.sqe.id = id;
  r.sqe.sendAddress = number;
  return r;
}

}  // namespace

TEST_CASE("the oldest is the first of its id, and ids keep the order of their runs") {
  constexpr uint32_t kIds = 7;
  std::mt19937 random(11);
  Backlog backlog(kIds);
  std::deque<std::pair<uint32_t, uint64_t>> byAge;
  uint64_t number = 0;
  for (int round = 0; round < 200; ++round) {
    for (uint32_t i = random() % 90; i != 0; --i) {
      const uint32_t id = random() % kIds;
      backlog.add(run(id, ++number));
      byAge.emplace_back(id, number);
    }
    for (uint32_t i = random() % 90; i != 0 && !byAge.empty(); --i) {
      REQUIRE(backlog.oldest().sqe.sendAddress == byAge.front().second);
      const uint32_t id = random() % 3 == 0 ? byAge.front().first : random() % kIds;
      const auto first = std::find_if(byAge.begin(), byAge.end(), [&](const auto& one) { return one.first == id; });
      REQUIRE((first != byAge.end()) == (backlog.sizeOf(id) != 0));
      if (first == byAge.end()) continue;
      REQUIRE(backlog.first(id).sqe.sendAddress == first->second);
      backlog.pop(id);
      byAge.erase(first);
    }
    REQUIRE(backlog.size() == byAge.size());
  }
  while (!byAge.empty()) {
    CHECK(backlog.oldest().sqe.sendAddress == byAge.front().second);
    backlog.pop(byAge.front().first);
    byAge.pop_front();
  }
  CHECK(backlog.isEmpty());
}

TEST_CASE("an id is vacated once, however many of its runs came to an end") {
  VacatedIds vacated(4);
  CHECK_FALSE(vacated.isSeenFilled());
  for (const uint32_t id : {2u, 0u, 2u, 2u, 0u}) vacated.add(id);
  CHECK(vacated.isSeenFilled());
  CHECK(vacated.last() == 0);
  vacated.dropLast();
  vacated.add(0);
  CHECK(vacated.last() == 0);
  vacated.dropLast();
  CHECK(vacated.last() == 2);
  vacated.dropLast();
  CHECK(vacated.isEmpty());
  CHECK_FALSE(vacated.isSeenFilled());
}
