// Which program of one's own the collective tests register: as wide as wanted, unless its chunks would differ.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "perf/rank_programs.hpp"

#include <doctest/doctest.h>

using namespace dfccl::bench;

TEST_CASE("the widest program that is wanted and divides the elements is taken") {
  const ProgramsByLanes programs = {{1, {{1}}}, {16, {{16}}}, {32, {{32}}}};
  const auto chosen = [&](uint32_t mostLanes, uint64_t count) {
    return choosePrograms(programs, mostLanes, count).at(0).at(0);
  };
  CHECK(chosen(64, 3200) == 32);
  CHECK(chosen(32, 3200) == 32);
  CHECK(chosen(31, 3200) == 16);
  CHECK(chosen(1, 3200) == 1);
  CHECK(chosen(32, 1'048'496) == 16);
  CHECK(chosen(32, 4'194'001) == 1);
  CHECK(chosen(32, 0) == 32);
}

TEST_CASE("where none is wanted so narrow, the narrowest is taken") {
  CHECK(choosePrograms({{16, {{16}}}}, 1, 100).at(0).at(0) == 16);
}
