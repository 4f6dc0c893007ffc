// The collective tests' -a.
#include "perf/average.hpp"

#include <doctest/doctest.h>

using namespace dfccl::bench;

TEST_CASE("0 to 3 are the first's time, the mean, the least and the most") {
  const std::vector<double> times = {5, 2, 11};
  const auto numbered = [&](int number) { return averageOf(times, static_cast<Average>(number)); };
  CHECK(numbered(0) == 5);
  CHECK(numbered(1) == 6);
  CHECK(numbered(2) == 2);
  CHECK(numbered(3) == 11);
}
