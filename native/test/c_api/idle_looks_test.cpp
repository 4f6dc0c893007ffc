#include "c_api/idle_looks.hpp"

#include <doctest/doctest.h>

using namespace dfccl::c_api;
using Then = IdleLooks::Then;

namespace {

constexpr uint64_t kRestAfter = 1000;

/// Looks one tick apart.
struct Waiter {
  uint64_t now = 1'000'000;
  IdleLooks idle;

  Then next(uint32_t looks) {
    ++now;
    return idle.next(
        looks, [this] { return now; }, kRestAfter);
  }
};

}  // namespace

TEST_CASE("who waits looks, yields after so many looks, and rests when nothing has come for long") {
  Waiter waiter;
  for (uint64_t look = 1; look <= kRestAfter; ++look) {
    CAPTURE(look);
    CHECK(waiter.next(20) == (look % 20 == 0 ? Then::yield : Then::look));
  }
  uint32_t rests = 0;
  for (int look = 0; look < 40; ++look) rests += waiter.next(20) == Then::rest;
  CHECK(rests == 2);
  waiter.idle.reset();
  for (int look = 0; look < 40; ++look) CHECK(waiter.next(20) != Then::rest);
}

TEST_CASE("that others begin to wait, or end it, makes nobody rest sooner") {
  constexpr uint32_t kLooks[] = {64, 20, 2};
  for (const uint32_t first : kLooks) {
    for (const uint32_t then : kLooks) {
      for (int change = 1; change < 70; ++change) {
        CAPTURE(first);
        CAPTURE(then);
        CAPTURE(change);
        Waiter waiter;
        for (int look = 0; look < 200; ++look) REQUIRE(waiter.next(look < change ? first : then) != Then::rest);
      }
    }
  }
}
