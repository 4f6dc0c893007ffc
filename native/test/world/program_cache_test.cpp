#include "world/program_cache.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "daemon/support/programs.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr TileSizes kTiles{4096, 4096};

/// A program of one's own, of two ranks.
std::vector<uint8_t> ownProgram() { return ringAllReduce(Protocol::simple, 2)(0); }

}  // namespace

TEST_CASE("whoever wants a program that is held gets the same one, for as many elements of the same type") {
  ProgramCache cache(kTiles);
  const auto held = cache.get(ownProgram(), DataType::float32, 200);
  CHECK(cache.get(ownProgram(), DataType::float32, 200) == held);
  CHECK(cache.get(ownProgram(), DataType::float32, 400) != held);
  CHECK(cache.get(ownProgram(), DataType::int32, 200) != held);
  CHECK(cache.get(ringAllReduce(Protocol::ll, 2)(0), DataType::float32, 200) != held);
}

TEST_CASE("programs that nobody holds any more are forgotten, however many there were; those that are held aren't") {
  ProgramCache cache(kTiles);
  std::vector<std::shared_ptr<const BoundProgram>> held;
  for (uint64_t i = 1; i <= 5; ++i) held.push_back(cache.get(ownProgram(), DataType::float32, 2 * i));
  size_t most = 0;
  for (uint64_t i = 6; i <= 5000; ++i) {
    (void)cache.get(ownProgram(), DataType::float32, 2 * i);
    most = std::max(most, cache.size());
  }
  CHECK(most <= 100);
  for (uint64_t i = 1; i <= 5; ++i) CHECK(cache.get(ownProgram(), DataType::float32, 2 * i) == held[i - 1]);
}

TEST_CASE("what is held at once may be as much as is wanted") {
  ProgramCache cache(kTiles);
  std::vector<std::shared_ptr<const BoundProgram>> held;
  for (uint64_t i = 1; i <= 1000; ++i) held.push_back(cache.get(ownProgram(), DataType::float32, 2 * i));
  CHECK(cache.size() == 1000);
  CHECK(cache.get(ownProgram(), DataType::float32, 2) == held.front());
}

TEST_CASE("a program that can't be loaded is refused and not remembered") {
  ProgramCache cache(kTiles);
  CHECK_THROWS_AS(cache.get(std::vector<uint8_t>(10), DataType::float32, 2), Error);
  CHECK(cache.size() == 0);
}
