// A run's count goes on for as long as its slot is used, so that its sums come again.
#include "daemon/state/run_count.hpp"

#include <doctest/doctest.h>

using namespace dfccl;

TEST_CASE("a run that ends at the same sum as one that was given up, 2^32 parts later, is no less finished") {
  RunCount count{};
  CHECK(count.count(1, 2, 2, true) == RunProgress::blocksLeft);
  CHECK(count.count(1, 2, 2) == RunProgress::aborted);
  constexpr uint32_t kUntilItWraps = -2u;
  CHECK(count.count(kUntilItWraps, kUntilItWraps, 0) == RunProgress::finished);
  CHECK(count.count(1, 2, 2) == RunProgress::blocksLeft);
  CHECK(count.count(1, 2, 2) == RunProgress::finished);
}
