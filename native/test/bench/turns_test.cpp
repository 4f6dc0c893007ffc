// In which order the collective tests run their cases.
#include "perf/turns.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace dfccl::bench;

namespace {

using Taken = std::vector<std::pair<size_t, uint32_t>>;  // row, cycle

Taken take(Turns& turns, size_t most = 100) {
  Taken taken;
  while (taken.size() < most) {
    const std::optional<Turn> turn = turns.next();
    if (!turn) break;
    taken.emplace_back(turn->row, turn->cycle);
  }
  return taken;
}

/// What is asked for of three rows.
Taken takeAsked(std::string text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> asked(fmemopen(text.data(), text.size(), "r"), std::fclose);
  Turns turns(3, 1, asked.get());
  return take(turns);
}

}  // namespace

TEST_CASE("unasked, all rows come in order, as many times as there are cycles") {
  Turns turns(3, 2, nullptr);
  CHECK(take(turns) == Taken{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}});
}

TEST_CASE("without a number of cycles they go on, and without a row there is none") {
  Turns endless(2, 0, nullptr), empty(0, 0, nullptr);
  CHECK(take(endless, 5) == Taken{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}});
  CHECK(take(empty).empty());
}

TEST_CASE("asked, a row comes when it is asked for and in the cycle that is named, until nothing more is asked") {
  CHECK(takeAsked("2 0\n0 0\n2 7\n1 1\n") == Taken{{2, 0}, {0, 0}, {2, 7}, {1, 1}});
}

TEST_CASE("what is no row and no cycle is refused") {
  for (const char* text : {"3 0\n", "-1 0\n", "1\n", "one 0\n"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(takeAsked(text), PerfError);
  }
}
