// Which program of one's own the collective tests register: the widest that is wanted.
#include "perf/rank_programs.hpp"

#include <doctest/doctest.h>

using namespace dfccl::bench;

TEST_CASE("the widest program that is wanted is taken") {
  const ProgramsByLanes programs = {{1, {{1}}}, {16, {{16}}}, {32, {{32}}}};
  const auto chosen = [&](uint32_t mostLanes) { return choosePrograms(programs, mostLanes).at(0).at(0); };
  CHECK(chosen(64) == 32);
  CHECK(chosen(32) == 32);
  CHECK(chosen(31) == 16);
  CHECK(chosen(1) == 1);
}

TEST_CASE("where none is wanted so narrow, the narrowest is taken") {
  CHECK(choosePrograms({{16, {{16}}}}, 1).at(0).at(0) == 16);
}
