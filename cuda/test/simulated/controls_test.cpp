// What hangs, and that it does: the cases of waiting_streams_test.cpp where daemons leave although streams wait, and
// streams that keep each other waiting in the hardware's queues.
#include <doctest/doctest.h>

#include <string>

#include "child.hpp"

using namespace dfccl::gpu::test;

namespace {

// A case that ends does so in a second, or a few where much else goes on.
constexpr std::chrono::seconds kHangs{4}, kEnds{60};

}  // namespace

TEST_CASE("control: where daemons leave although streams wait, nobody can start them again") {
  for (const std::string name : {"memory is freed while a stream waits*", "more streams wait than*"}) {
    CAPTURE(name);
    CHECK(runSelf({"--test-case=" + name}, {}, kEnds).code == 0);
    CHECK_FALSE(runSelf({"--test-case=" + name}, {{"SIMULATED_LEAVES", "1"}}, kHangs).hasEnded);
  }
}

TEST_CASE("control: of random orders with streams, too, some hang where daemons leave although streams wait") {
  // Every second one does.
  bool hasHung = false;
  for (int seed = 1; seed <= 20 && !hasHung; ++seed) {
    hasHung = !runSelf({"--test-case=runs before*"},
                       {{"SIMULATED_LEAVES", "1"}, {"DFCCL_SEED", std::to_string(seed).c_str()}}, kHangs)
                   .hasEnded;
  }
  CHECK(hasHung);
}

TEST_CASE("control: streams that wait keep others of their hardware queues waiting, and so other ranks") {
  CHECK_FALSE(
      runSelf({}, {{"DFCCL_TEST_CHILD", "waiting streams in any order"}, {"CUDA_DEVICE_MAX_CONNECTIONS", "4"}}, kHangs)
          .hasEnded);
}
