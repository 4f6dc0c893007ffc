#include <doctest/doctest.h>

#include "queues/submission_consumer.hpp"
#include "queues/submission_producer.hpp"
#include "shared_memory.hpp"

using namespace dfccl;
using dfccl::test::SharedMemory;

namespace {

// Just below every place where some counter wraps: sequence, low half, payload, the whole position.
constexpr uint64_t kFirstPositions[] = {0, 65533, (1ull << 32) - 3, (1ull << 48) - 3, ~uint64_t{0} - 2};

Sqe entryOf(uint64_t run) {
  return {.id = static_cast<uint32_t>(run * 2654435761u),
          .flags = static_cast<uint32_t>(run & 0xffff),
          .run = run & kSqePayloadMask,
          .completionSlot = static_cast<uint32_t>(run * 5),
          .sendAddress = (0x7fff00000000 + run * 64) & kSqePayloadMask,
          .recvAddress = (0xffffffffffff - run) & kSqePayloadMask,
          .count = run * 3};
}

void checkEqual(const Sqe& a, const Sqe& b) {
  CHECK(a.id == b.id);
  CHECK(a.flags == b.flags);
  CHECK(a.run == b.run);
  CHECK(a.completionSlot == b.completionSlot);
  CHECK(a.sendAddress == b.sendAddress);
  CHECK(a.recvAddress == b.recvAddress);
  CHECK(a.count == b.count);
}

template <ReadMode Mode>
void deliversAcrossWraps() {
  for (const uint64_t first : kFirstPositions) {
    CAPTURE(first);
    SharedMemory memory(SubmissionRing::bytes(4));
    const auto ring = SubmissionRing::create(memory, 4, first);
    SubmissionProducer<> producer(ring, 1);
    SubmissionConsumer<Mode> consumer(SubmissionRing::attach(memory));
    Sqe sqe{};
    CHECK_FALSE(consumer.peek(sqe));
    uint64_t sent = 0;
    for (uint64_t received = 0; received < 20; ++received) {
      while (sent < 20) {
        const Sqe next = entryOf(sent);
        if (producer.submit(&next, 1) != Reserve::ok) break;
        ++sent;
      }
      CHECK(sent == (received + 4 < 20 ? received + 4 : 20));
      REQUIRE(consumer.peek(sqe));
      CHECK(consumer.position() == first + received);
      checkEqual(sqe, entryOf(received));
      consumer.pop();
      consumer.release();
    }
    CHECK_FALSE(consumer.peek(sqe));
  }
}

}  // namespace

TEST_CASE("by the tail: delivers every entry in order while each counter wraps") {
  deliversAcrossWraps<ReadMode::tail>();
}

TEST_CASE("by the words: delivers every entry in order while each counter wraps") {
  deliversAcrossWraps<ReadMode::words>();
}

TEST_CASE("a batch goes in whole or not at all") {
  SharedMemory memory(SubmissionRing::bytes(8));
  const auto ring = SubmissionRing::create(memory, 8);
  SubmissionProducer<> producer(ring, 1);
  Sqe batch[6];
  for (int i = 0; i < 6; ++i) batch[i] = entryOf(static_cast<uint64_t>(i));
  CHECK(producer.submit(batch, 6) == Reserve::ok);
  CHECK(producer.submit(batch, 3) == Reserve::full);
  CHECK(producer.submit(batch, 2) == Reserve::ok);
  CHECK(producer.submit(batch, 1) == Reserve::full);
  SubmissionConsumer<> consumer(ring);
  Sqe sqe{};
  for (uint64_t i : {0, 1, 2, 3, 4, 5, 0, 1}) {
    REQUIRE(consumer.take(sqe));
    CHECK(sqe.run == i);
  }
  CHECK_FALSE(consumer.take(sqe));
  CHECK(producer.submit(batch, 6) == Reserve::ok);
}

TEST_CASE("nothing of a batch is seen by the tail before it is published") {
  SharedMemory memory(SubmissionRing::bytes(4));
  const auto ring = SubmissionRing::create(memory, 4);
  SubmissionProducer<> producer(ring, 1);
  SubmissionConsumer<> consumer(ring);
  Sqe sqe{};
  REQUIRE(producer.tryReserve(2) == Reserve::ok);
  producer.write(0, entryOf(7));
  CHECK_FALSE(consumer.peek(sqe));
  producer.write(1, entryOf(8));
  producer.publish(2);
  CHECK(consumer.peek(sqe));
}

TEST_CASE("a second producer is told that the ring is busy, and changes nothing") {
  SharedMemory memory(SubmissionRing::bytes(4));
  const auto ring = SubmissionRing::create(memory, 4);
  SubmissionProducer<> first(ring, 1);
  SubmissionProducer<> second(ring, 2);
  const Sqe sqe = entryOf(1);
  REQUIRE(first.tryReserve(1) == Reserve::ok);
  CHECK(second.submit(&sqe, 1) == Reserve::busy);
  first.write(0, sqe);
  first.publish(1);
  CHECK(second.submit(&sqe, 1) == Reserve::ok);
  CHECK(ring.header->tail.load(order::relaxed) == 2);
}

TEST_CASE("popped slots stay taken until they are released") {
  SharedMemory memory(SubmissionRing::bytes(2));
  const auto ring = SubmissionRing::create(memory, 2);
  SubmissionProducer<> producer(ring, 1);
  SubmissionConsumer<> consumer(ring);
  const Sqe batch[2] = {entryOf(1), entryOf(2)};
  REQUIRE(producer.submit(batch, 2) == Reserve::ok);
  Sqe sqe{};
  REQUIRE(consumer.peek(sqe));
  consumer.pop();
  CHECK(producer.submit(batch, 1) == Reserve::full);
  consumer.release();
  CHECK(producer.submit(batch, 1) == Reserve::ok);
}

TEST_CASE("a new leader goes on where the last one released") {
  SharedMemory memory(SubmissionRing::bytes(4));
  const auto ring = SubmissionRing::create(memory, 4, 100);
  SubmissionProducer<> producer(ring, 1);
  const Sqe batch[3] = {entryOf(1), entryOf(2), entryOf(3)};
  REQUIRE(producer.submit(batch, 3) == Reserve::ok);
  Sqe sqe{};
  {
    SubmissionConsumer<> consumer(ring);
    REQUIRE(consumer.take(sqe));
    REQUIRE(consumer.peek(sqe));
    consumer.pop();  // not released: it is read again
  }
  SubmissionConsumer<ReadMode::words> next(ring);
  CHECK(next.position() == 101);
  REQUIRE(next.take(sqe));
  CHECK(sqe.run == 2);
}

TEST_CASE("wherever a producer dies in an entry, the next one takes over and nothing is torn") {
  for (int written = 0; written <= kSqeWords; ++written) {
    CAPTURE(written);
    SharedMemory memory(SubmissionRing::bytes(4));
    const auto ring = SubmissionRing::create(memory, 4, 65534);
    SubmissionProducer<> dead(ring, 1);
    SubmissionProducer<> heir(ring, 2);
    SubmissionConsumer<> byTail(ring);
    SubmissionConsumer<ReadMode::words> byWords(ring);
    REQUIRE(dead.tryReserve(3) == Reserve::ok);
    dead.write(0, entryOf(10));
    uint64_t payload[kSqeWords];
    packSqe(entryOf(11), 65535, payload);
    for (int i = 0; i < written; ++i) {
      ring.slot(65535).words[i].store(sqeSequence(65535) | payload[i], order::relaxed);
    }

    CHECK_FALSE(heir.takeOver(3));
    CHECK(heir.takeOver(1));
    const Sqe batch[2] = {entryOf(20), entryOf(21)};
    REQUIRE(heir.submit(batch, 2) == Reserve::ok);
    Sqe sqe{};
    const auto expect = [&](auto& consumer, uint64_t run) {
      REQUIRE(consumer.peek(sqe));
      checkEqual(sqe, entryOf(run));
      consumer.pop();
    };
    for (const uint64_t run : {10, 11, 20, 21}) {
      if (run == 11 && written < kSqeWords) continue;
      expect(byTail, run);
      expect(byWords, run);
    }
    CHECK_FALSE(byTail.peek(sqe));
    CHECK_FALSE(byWords.peek(sqe));
  }
}

TEST_CASE("a void entry gives its slot back although nothing was taken") {
  SharedMemory memory(SubmissionRing::bytes(1));
  const auto ring = SubmissionRing::create(memory, 1);
  SubmissionProducer<> dead(ring, 1);
  SubmissionProducer<> heir(ring, 2);
  REQUIRE(dead.tryReserve(1) == Reserve::ok);
  ring.slot(0).words[0].store(sqeSequence(0), order::relaxed);
  REQUIRE(heir.takeOver(1));
  const Sqe sqe = entryOf(5);
  CHECK(heir.submit(&sqe, 1) == Reserve::full);
  SubmissionConsumer<> consumer(ring);
  Sqe taken{};
  CHECK_FALSE(consumer.take(taken));
  CHECK(heir.submit(&sqe, 1) == Reserve::ok);
  CHECK(consumer.take(taken));
  CHECK(taken.run == 5);
}

TEST_CASE("zeroed memory is never taken for an entry: the control of reset()") {
  // Position 65535 has sequence 0. In slots that nobody initialised it would be there before it was written.
  SharedMemory memory(SubmissionRing::bytes(2));
  const auto ring = SubmissionRing::create(memory, 2, 65535);
  Sqe sqe{};
  CHECK_FALSE(SubmissionConsumer<ReadMode::words>(ring).peek(sqe));
  for (auto& word : ring.slot(65535).words) word.store(0, order::relaxed);
  CHECK(SubmissionConsumer<ReadMode::words>(ring).peek(sqe));
}

TEST_CASE("capacities that would let a sequence repeat within two laps are invalid") {
  CHECK(SubmissionRing::isValidCapacity(1));
  CHECK(SubmissionRing::isValidCapacity(32768));
  for (const uint32_t capacity : {0u, 3u, 65536u, 100u}) CHECK_FALSE(SubmissionRing::isValidCapacity(capacity));
}
