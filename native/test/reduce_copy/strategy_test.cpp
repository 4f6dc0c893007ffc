// How a reduce-copy is written depends on its operands and their size; 0 bytes of working set mean unknown.
#include "../../src/reduce_copy/strategy.hpp"

#include <doctest/doctest.h>

#include "../../src/reduce_copy/cache_size.hpp"

namespace {

using namespace dfccl::reduce_copy;
using dfccl::Stores;

constexpr size_t kSlice = 64 << 10;

Strategy choose(int sources, int destinations, size_t operandBytes, size_t workingSetBytes, bool canStream = true,
                Stores stores = Stores::byWorkingSet) {
  return chooseStrategy({.sourceCount = sources,
                         .destinationCount = destinations,
                         .operandBytes = operandBytes,
                         .workingSetBytes = workingSetBytes,
                         .stores = stores,
                         .canStream = canStream});
}

TEST_CASE("streams only a working set that the caches can't hold") {
  const size_t cache = expectedCacheBytes();
  CHECK(choose(2, 2, kSlice, 2 * cache) == Strategy::streamed);
  CHECK(choose(2, 1, kSlice, 2 * cache) == Strategy::streamed);
  CHECK(choose(2, 2, kSlice, cache) == Strategy::direct);
  CHECK(choose(2, 2, kSlice, 0) == Strategy::direct);
  CHECK(choose(8, 8, kSlice, 2 * cache, false) == Strategy::direct);
}

TEST_CASE("whoever knows how the stores fare decides, whatever the working set") {
  const size_t cache = expectedCacheBytes();
  CHECK(choose(2, 2, kSlice, 0, true, Stores::around) == Strategy::streamed);
  CHECK(choose(2, 2, kSlice, 2 * cache, true, Stores::cached) == Strategy::direct);
  CHECK(choose(8, 8, kSlice, 0, true, Stores::cached) == Strategy::staged);
  CHECK(choose(2, 2, kSlice, 0, false, Stores::around) == Strategy::direct);
  CHECK(choose(2, 2, 64, 0, true, Stores::around) == Strategy::direct);
}

TEST_CASE("stages many operands that stay in the cache, and no others") {
  const size_t cache = expectedCacheBytes();
  CHECK(choose(8, 8, kSlice, 0) == Strategy::staged);
  CHECK(choose(8, 8, kSlice, cache / 4) == Strategy::staged);
  CHECK(choose(8, 8, kSlice, cache / 2) == Strategy::direct);
  CHECK(choose(4, 4, kSlice, 0) == Strategy::direct);
  CHECK(choose(16, 1, kSlice, 0) == Strategy::direct);
}

TEST_CASE("writes a tiny call directly, whatever it belongs to") {
  CHECK(choose(8, 8, 64, size_t{1} << 40) == Strategy::direct);
}

TEST_CASE("the last-level cache has a plausible size") {
  CHECK(lastLevelCacheBytes() >= size_t{256} << 10);
  CHECK(lastLevelCacheBytes() <= size_t{4} << 30);
  CHECK(expectedCacheBytes() >= size_t{256} << 10);
  CHECK(expectedCacheBytes() <= lastLevelCacheBytes());
}

}  // namespace
