#include "host/member/quiet_look.hpp"

#include <doctest/doctest.h>

namespace dfccl::gpu {
namespace {

constexpr uint64_t kSettle = 100;

}  // namespace

TEST_CASE("kernels are over when nothing has changed for a while") {
  QuietLook quiet(kSettle);
  CHECK_FALSE(quiet.look(true, 4, 4, 1000));
  CHECK_FALSE(quiet.look(true, 4, 4, 1000 + kSettle));
  CHECK(quiet.look(true, 4, 4, 1001 + kSettle));
}

TEST_CASE("what was quiet before kernels had to end doesn't count") {
  QuietLook quiet(kSettle);
  CHECK_FALSE(quiet.look(false, 4, 4, 1000));
  CHECK_FALSE(quiet.look(false, 4, 4, 5000));
  CHECK_FALSE(quiet.look(true, 4, 4, 5001));
  CHECK(quiet.look(true, 4, 4, 5002 + kSettle));
}

TEST_CASE("a kernel that tells late, or goes on with its next run, keeps others waiting anew") {
  QuietLook quiet(kSettle);
  CHECK_FALSE(quiet.look(true, 4, 4, 1000));
  CHECK_FALSE(quiet.look(true, 4, 5, 1090));
  CHECK_FALSE(quiet.look(true, 5, 5, 1200));
  // Another one has begun and ended between two looks.
  CHECK_FALSE(quiet.look(true, 6, 6, 1290));
  CHECK_FALSE(quiet.look(true, 6, 6, 1290 + kSettle));
  CHECK(quiet.look(true, 6, 6, 1291 + kSettle));
}

}  // namespace dfccl::gpu
