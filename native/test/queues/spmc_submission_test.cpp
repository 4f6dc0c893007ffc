#include <doctest/doctest.h>

#include "queues/spmc_submission.hpp"
#include "shared_memory.hpp"

using namespace dfccl;
using dfccl::test::SharedMemory;

namespace {

constexpr uint64_t kFirstPositions[] = {0, 65533, (1ull << 32) - 3, (1ull << 48) - 3, ~uint64_t{0} - 2};

Sqe entryOf(uint64_t run) {
  return {.id = 3, .flags = 0, .run = run, .completionSlot = 1, .sendAddress = run * 8, .recvAddress = run * 16};
}

}  // namespace

TEST_CASE("every block reads every entry in order while the counters wrap") {
  for (const uint64_t first : kFirstPositions) {
    for (const uint32_t capacity : {2u, 4u}) {
      CAPTURE(first);
      SharedMemory memory(SpmcSubmission::bytes(capacity));
      SpmcProducer<> producer(SpmcSubmission::create(memory, capacity, 2, first), first);
      const auto ring = SpmcSubmission::attach(memory);
      SpmcConsumer<> blocks[] = {SpmcConsumer<>(ring, first), SpmcConsumer<>(ring, first)};
      Sqe sqe{};
      uint64_t sent = 0;
      for (uint64_t received = 0; received < 20; ++received) {
        while (sent < 20 && producer.trySubmit(entryOf(sent))) ++sent;
        CHECK(sent == (received + capacity < 20 ? received + capacity : 20));
        for (auto& block : blocks) {
          REQUIRE(block.take(sqe));
          CHECK(sqe.run == received);
          CHECK(sqe.sendAddress == received * 8);
          CHECK(sqe.recvAddress == received * 16);
        }
      }
      for (auto& block : blocks) CHECK_FALSE(block.take(sqe));
    }
  }
}

TEST_CASE("only the last block frees a slot") {
  SharedMemory memory(SpmcSubmission::bytes(2));
  const auto ring = SpmcSubmission::create(memory, 2, 3);
  SpmcProducer<> producer(ring);
  SpmcConsumer<> blocks[] = {SpmcConsumer<>(ring), SpmcConsumer<>(ring), SpmcConsumer<>(ring)};
  Sqe sqe{};
  REQUIRE(producer.trySubmit(entryOf(0)));
  REQUIRE(producer.trySubmit(entryOf(1)));
  for (auto& block : blocks) {
    CHECK_FALSE(producer.trySubmit(entryOf(2)));
    CHECK(block.take(sqe));
  }
  CHECK(producer.trySubmit(entryOf(2)));
  CHECK_FALSE(producer.trySubmit(entryOf(3)));
}
