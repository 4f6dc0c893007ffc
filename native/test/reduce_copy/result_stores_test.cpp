// How a collective's results are stored, by when their buffers were last written.
#include "../../src/reduce_copy/result_stores.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace dfccl;
using reduce_copy::expectedCacheBytes;

constexpr uint64_t kBytes = 32 << 10;

/// A buffer that no other case has.
uint64_t anyBuffer() {
  static uint64_t next = uint64_t{1} << 40;
  return next += uint64_t{1} << 30;
}

/// Moves more than caches hold.
void moveMuch() {
  RecentBuffers& all = RecentBuffers::ofThisProcess();
  for (uint64_t moved = 0; moved <= expectedCacheBytes(); moved += 1 << 20) all.note(anyBuffer(), 1 << 20);
}

TEST_CASE("what was never written goes around the caches, what was written just now doesn't") {
  ResultStores stores;
  const uint64_t buffer = anyBuffer();
  CHECK(stores.of(0, buffer, kBytes) == Stores::around);
  for (uint64_t run = 1; run < 100; ++run) CHECK(stores.of(run, buffer, kBytes) == Stores::cached);
}

TEST_CASE("a run stores all its slices in one way, whatever others do meanwhile") {
  ResultStores stores, others;
  const uint64_t buffer = anyBuffer();
  CHECK(stores.of(0, buffer, kBytes) == Stores::around);
  CHECK(others.of(0, buffer, kBytes) == Stores::cached);
  CHECK(stores.of(0, buffer, kBytes) == Stores::around);
  CHECK(stores.of(1, buffer, kBytes) == Stores::cached);
  moveMuch();
  CHECK(stores.of(1, buffer, kBytes) == Stores::cached);
  CHECK(stores.of(2, buffer, kBytes) == Stores::around);
}

TEST_CASE("buffers that are used by turns stay in the caches, as long as there are few") {
  ResultStores stores;
  std::vector<uint64_t> buffers;
  for (int i = 0; i < 64; ++i) buffers.push_back(anyBuffer());
  uint64_t run = 0, cached = 0;
  for (const uint64_t buffer : buffers) stores.of(run++, buffer, 4096);
  for (const uint64_t buffer : buffers) cached += stores.of(run++, buffer, 4096) == Stores::cached;
  // Some take each other's places.
  CHECK(cached >= 60);
}

TEST_CASE("buffers that lie behind one another, more than caches hold, are never found there") {
  ResultStores stores;
  const uint64_t first = anyBuffer();
  uint64_t run = 0, cached = 0;
  const uint64_t buffers = 2 * expectedCacheBytes() / kBytes;
  for (int lap = 0; lap < 3; ++lap) {
    for (uint64_t i = 0; i < buffers; ++i) cached += stores.of(run++, first + i * kBytes, kBytes) == Stores::cached;
  }
  CHECK(cached == 0);
}

TEST_CASE("a thread that keeps out of the way hears of large runs that begin in no cache, and of no others") {
  ResultStores stores;
  const uint64_t buffer = anyBuffer();
  const auto heard = [before = ResultStores::slowRuns().load(order::relaxed)] {
    return ResultStores::slowRuns().load(order::relaxed) - before;
  };
  stores.of(0, buffer, 1 << 20);
  CHECK(heard() == 1);
  stores.of(1, buffer, 1 << 20);
  CHECK(heard() == 1);
  stores.of(2, anyBuffer(), 4096);
  CHECK(heard() == 1);
}

}  // namespace
