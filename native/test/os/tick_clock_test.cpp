#include "os/tick_clock.hpp"

#include <doctest/doctest.h>

using namespace dfccl;

// A limit of "for ever" was over at once.
TEST_CASE("a limit that no clock counts to is the longest there is") {
  CHECK(ticksOf(0) == 0);
  CHECK(ticksOf(1'000'000) == static_cast<uint64_t>(1e6 * ticksPerMicrosecond()));
  for (const uint64_t micros : {~uint64_t{0}, uint64_t{INT64_MAX}}) CHECK(ticksOf(micros) == ~uint64_t{0});
}
