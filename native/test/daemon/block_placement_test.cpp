#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "daemon/state/block_placement.hpp"

using namespace dfccl;

namespace {

/// How often each program block has a place.
std::vector<int> placesOf(uint32_t grid, uint32_t firstBlock, uint32_t blockCount) {
  std::vector<int> places(blockCount);
  for (uint32_t index = 0; index < grid; ++index) {
    for (uint32_t part = firstPartOf(index, grid, firstBlock, blockCount); part < blockCount; part += grid) {
      ++places[part];
    }
  }
  return places;
}

}  // namespace

TEST_CASE("every program block has one place, wherever the first one is") {
  for (uint32_t grid = 1; grid <= 9; ++grid) {
    for (uint32_t blockCount = 1; blockCount <= 20; ++blockCount) {
      for (uint32_t firstBlock = 0; firstBlock < grid; ++firstBlock) {
        CAPTURE(grid);
        CAPTURE(blockCount);
        CAPTURE(firstBlock);
        CHECK(placesOf(grid, firstBlock, blockCount) == std::vector<int>(blockCount, 1));
      }
    }
  }
}

TEST_CASE("where the others are enough, they take turns in being the first, and the leader's block is none of them") {
  for (uint32_t grid = 2; grid <= 9; ++grid) {
    for (uint32_t blockCount = 1; blockCount < grid; ++blockCount) {
      std::set<uint32_t> first;
      for (uint32_t collective = 0; collective < 2 * grid; ++collective) {
        const uint32_t firstBlock = firstBlockOf(collective, grid, blockCount);
        first.insert(firstBlock);
        CHECK(firstPartOf(0, grid, firstBlock, blockCount) >= blockCount);
        CHECK(firstPartOf(firstBlock, grid, firstBlock, blockCount) == 0);
      }
      CHECK(first.size() == grid - 1);
    }
    CHECK(firstBlockOf(5, grid, grid) == 0);
  }
}
