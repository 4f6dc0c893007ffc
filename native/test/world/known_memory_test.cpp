// Memory that was asked about once: what it holds, to the byte, and that nothing of another allocation slips in.
#include "world/known_memory.hpp"

#include <doctest/doctest.h>

using namespace dfccl;

TEST_CASE("nothing is known at first") {
  const KnownMemory known;
  CHECK_FALSE(known.holds(0, 1));
  CHECK_FALSE(known.holds(uint64_t{0x7f00} << 24, 4));
}

TEST_CASE("an allocation holds what lies in it, and nothing that reaches out of it") {
  constexpr uint64_t kFirst = 0x7f12'3456'7800, kBytes = 64 << 20;
  KnownMemory known;
  known.remember({kFirst, kBytes});
  CHECK(known.holds(kFirst, kBytes));
  CHECK(known.holds(kFirst + 4, 4));
  CHECK(known.holds(kFirst + kBytes - 4, 4));
  CHECK_FALSE(known.holds(kFirst - 1, 4));
  CHECK_FALSE(known.holds(kFirst + kBytes - 4, 5));
  CHECK_FALSE(known.holds(kFirst + kBytes, 4));
  CHECK_FALSE(known.holds(kFirst + 1, kBytes));
  CHECK_FALSE(known.holds(0, ~uint64_t{0}));
  CHECK_FALSE(known.holds(~uint64_t{0}, 2));

  known.remember({kFirst + 2 * kBytes, kBytes});
  CHECK_FALSE(known.holds(kFirst, 4));
  CHECK(known.holds(kFirst + 2 * kBytes, 4));
}

TEST_CASE("less than an allocation may be remembered, never more") {
  KnownMemory known;
  known.remember({1000, 2000});  // 1024 to 2560 in whole 512 bytes
  CHECK(known.holds(1024, 1536));
  CHECK_FALSE(known.holds(1023, 1));
  CHECK_FALSE(known.holds(2560, 1));
  known.remember({1000, 20});
  CHECK_FALSE(known.holds(1000, 4));
  CHECK_FALSE(known.holds(1024, 1));
  known.remember({512, uint64_t{1} << 40});
  CHECK(known.holds(512, uint64_t{1} << 34));
  CHECK_FALSE(known.holds(512, uint64_t{1} << 40));
  known.remember({});
  CHECK_FALSE(known.holds(512, 4));
}

TEST_CASE("an allocation too high for the word isn't taken for a lower one") {
  constexpr uint64_t kHigh = uint64_t{1} << 47, kLow = 0x1234'5600;
  KnownMemory known;
  known.remember({kHigh + kLow, 4096});
  CHECK_FALSE(known.holds(kLow, 4));
  CHECK_FALSE(known.holds(kHigh + kLow, 4));
  known.remember({kHigh - 4096, 4096});
  CHECK(known.holds(kHigh - 4096, 4096));
}
