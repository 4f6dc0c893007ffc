#include "processes/silences.hpp"

#include <doctest/doctest.h>

using namespace dfccl;

namespace {

constexpr uint32_t kPeriod = 100;
constexpr uint64_t kBegin = 5'000'000;

}  // namespace

TEST_CASE("a rank is silent since its last heartbeat was seen") {
  Silences silences(2, kPeriod, kBegin);
  uint64_t now = kBegin;
  for (int i = 0; i < 10; ++i) {
    silences.look(now += kPeriod);
    CHECK(silences.of(0, 7) == kPeriod * static_cast<uint64_t>(i));
    CHECK(silences.of(1, 100 + static_cast<uint64_t>(i)) == 0);
  }
  silences.look(now += 10);
  CHECK(silences.of(0, 7) == 910);
  CHECK(silences.of(0, 8) == 0);
}

TEST_CASE("a rank that was stopped itself takes nobody for silent who goes on behind it") {
  Silences silences(1, kPeriod, kBegin);
  silences.look(kBegin + kPeriod);
  CHECK(silences.of(0, 7) == 0);
  silences.look(kBegin + kPeriod + 3'600'000);
  CHECK(silences.of(0, 7) == kPeriod);
  silences.look(kBegin + 2 * kPeriod + 3'600'000);
  CHECK(silences.of(0, 8) == 0);
}

TEST_CASE("a rank that always looks late still sees who is silent for ever") {
  Silences silences(1, kPeriod, kBegin);
  uint64_t now = kBegin;
  uint64_t silence = 0;
  for (int looks = 0; looks < 31; ++looks) {
    silences.look(now += 10 * kPeriod);
    silence = silences.of(0, 7);
  }
  CHECK(silence == 30 * kPeriod);
}
