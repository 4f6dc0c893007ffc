#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "base/sqe.hpp"
#include "queues/completion_cas_slots.hpp"
#include "queues/completion_owned_slots.hpp"
#include "queues/completion_packed_ring.hpp"
#include "queues/completion_vanilla_ring.hpp"
#include "shared_memory.hpp"

using namespace dfccl;
using dfccl::test::SharedMemory;

namespace {

using Vanilla = CompletionVanillaRing<>;
using Packed = CompletionPackedRing<>;
using Cas = CompletionCasSlots<>;
using Owned = CompletionOwnedSlots<>;

/// A queue of eight with the counters just below a wrap, and slots for those that need them.
template <class Q>
struct Fixture {
  SharedMemory memory{Q::bytes(8)};
  Q queue = make();

  Q make() {
    if constexpr (std::is_same_v<Q, Cas>) {
      return Q::create(memory, 8);
    } else if constexpr (std::is_same_v<Q, Owned>) {
      return Q::create(memory, 8, 0xfffffffd);
    } else {
      return Q::create(memory, 8, (1ull << 32) - 3);
    }
  }

  uint32_t slot() {
    if constexpr (std::is_same_v<Q, Owned>) return typename Q::Claimer(queue).tryClaim();
    return kNoCompletionSlot;
  }
};

uint64_t completionOf(uint64_t run) {
  return packCqe(static_cast<uint32_t>(run * 2654435761u), run % 3 == 0 ? CqeStatus::aborted : CqeStatus::completed,
                 run);
}

}  // namespace

TEST_CASE_TEMPLATE("delivers every completion once, whole, while the counters wrap", Q, Vanilla, Packed, Cas, Owned) {
  Fixture<Q> fixture;
  typename Q::Producer producers[] = {typename Q::Producer(fixture.queue),
                                      typename Q::Producer(Q::attach(fixture.memory))};
  typename Q::Poller poller(fixture.queue);
  CHECK_FALSE(poller.poll());
  uint64_t posted = 0;
  std::multiset<uint64_t> missing;
  std::vector<uint64_t> order;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 5; ++i) {
      const uint64_t cqe = completionOf(posted);
      REQUIRE(producers[posted % 2].post(fixture.slot(), cqe));
      missing.insert(cqe);
      order.push_back(cqe);
      ++posted;
    }
    while (const auto cqe = poller.poll()) {
      const auto found = missing.find(*cqe);
      REQUIRE(found != missing.end());
      missing.erase(found);
      if (Q::kGuarantees.ordered) CHECK(*cqe == order[order.size() - missing.size() - 1]);
    }
    CHECK(missing.empty());
  }
}

TEST_CASE_TEMPLATE("a full queue refuses, loses nothing, and goes on", Q, Vanilla, Packed, Cas) {
  Fixture<Q> fixture;
  typename Q::Producer producer(fixture.queue);
  typename Q::Poller poller(fixture.queue);
  for (int lap = 0; lap < 3; ++lap) {
    for (uint64_t i = 0; i < 8; ++i) CHECK(producer.post(kNoCompletionSlot, completionOf(i)));
    CHECK_FALSE(producer.post(kNoCompletionSlot, completionOf(8)));
    std::set<uint64_t> delivered;
    while (const auto cqe = poller.poll()) delivered.insert(*cqe);
    CHECK(delivered.size() == 8);
    CHECK(delivered.count(completionOf(8)) == 0);
  }
}

TEST_CASE_TEMPLATE("a new poller delivers what the last one left", Q, Vanilla, Packed, Cas, Owned) {
  Fixture<Q> fixture;
  typename Q::Producer producer(fixture.queue);
  for (uint64_t i = 0; i < 3; ++i) REQUIRE(producer.post(fixture.slot(), completionOf(i)));
  std::set<uint64_t> delivered;
  for (int i = 0; i < 3; ++i) {
    typename Q::Poller poller(fixture.queue);
    const auto cqe = poller.poll();
    REQUIRE(cqe);
    delivered.insert(*cqe);
  }
  CHECK(delivered.size() == 3);
  CHECK_FALSE(typename Q::Poller(fixture.queue).poll());
}

TEST_CASE("vanilla ring: a producer that died inside refuses the others and damages nothing") {
  SharedMemory memory(Vanilla::bytes(8));
  const auto queue = Vanilla::create(memory, 8);
  Vanilla::Producer producer(queue);
  Vanilla::Poller poller(queue);
  REQUIRE(producer.post(kNoCompletionSlot, completionOf(1)));
  queue.header->lock.store(1, order::relaxed);
  queue.entries[1].set(completionOf(2));  // it died before it moved the tail
  CHECK_FALSE(producer.post(kNoCompletionSlot, completionOf(3)));
  CHECK(poller.poll() == completionOf(1));
  CHECK_FALSE(poller.poll());
}

TEST_CASE("packed ring: a late producer holds up those behind it and nobody takes its place") {
  SharedMemory memory(Packed::bytes(4));
  const auto queue = Packed::create(memory, 4);
  Packed::Producer producer(queue);
  Packed::Poller poller(queue);
  const uint64_t position = queue.header->reserved.fetchAdd(1, order::relaxed);
  for (uint64_t i = 1; i < 4; ++i) CHECK(producer.post(kNoCompletionSlot, completionOf(i)));
  CHECK_FALSE(producer.post(kNoCompletionSlot, completionOf(9)));
  CHECK_FALSE(poller.poll());
  queue.entries[position].store(packCqe(0, CqeStatus::completed, 0) | (uint64_t{1} << Packed::kLapShift),
                                order::release);
  CHECK(poller.poll() == packCqe(0, CqeStatus::completed, 0));
  for (uint64_t i = 1; i < 4; ++i) CHECK(poller.poll() == completionOf(i));
}

TEST_CASE("packed ring: the lap wraps without a stale entry being taken") {
  constexpr uint64_t kLaps = 1 << 14;
  SharedMemory memory(Packed::bytes(2));
  const auto queue = Packed::create(memory, 2, 2 * (kLaps - 2));
  Packed::Producer producer(queue);
  Packed::Poller poller(queue);
  for (uint64_t i = 0; i < 10; ++i) {
    CHECK_FALSE(poller.poll());
    REQUIRE(producer.post(kNoCompletionSlot, completionOf(i)));
    CHECK(poller.poll() == completionOf(i));
  }
}

TEST_CASE("owned slots: claims are first in, first out, and none means full") {
  SharedMemory memory(Owned::bytes(8));
  const auto queue = Owned::create(memory, 8);
  Owned::Claimer claimer(queue);
  Owned::Producer producer(queue);
  Owned::Poller poller(queue);
  for (uint32_t i = 0; i < 8; ++i) CHECK(claimer.tryClaim() == i);
  CHECK(claimer.freeCount() == 0);
  CHECK(claimer.tryClaim() == kNoCompletionSlot);
  for (const uint32_t slot : {5u, 2u}) {
    CHECK(producer.post(slot, completionOf(slot)));
    CHECK(poller.poll() == completionOf(slot));
  }
  CHECK(claimer.freeCount() == 2);
  CHECK(claimer.tryClaim() == 5);
  CHECK(claimer.tryClaim() == 2);
  CHECK(claimer.tryClaim() == kNoCompletionSlot);
}

TEST_CASE("owned slots: a slot that was looked at stays claimed until it is freed") {
  SharedMemory memory(Owned::bytes(8));
  const auto queue = Owned::create(memory, 8);
  Owned::Claimer claimer(queue);
  Owned::Poller poller(queue);
  for (int i = 0; i < 8; ++i) CHECK(Owned::Producer(queue).post(claimer.tryClaim(), completionOf(1)));
  const auto taken = poller.pollSlot();
  REQUIRE(taken.slot != kNoCompletionSlot);
  CHECK(claimer.tryClaim() == kNoCompletionSlot);
  poller.free(taken.slot);
  CHECK(claimer.tryClaim() == taken.slot);
}

TEST_CASE("each variant states what the papers say of it") {
  CHECK(Vanilla::kGuarantees.operationsPerPost >= 5);
  CHECK(Packed::kGuarantees.operationsPerPost == 4);
  CHECK(Cas::kGuarantees.operationsPerPost == 1);
  CHECK(Owned::kGuarantees.operationsPerPost == 1);
  CHECK_FALSE(Owned::kGuarantees.needsHostAtomics);
}

TEST_CASE("owned slots: only as many are used as were ever in flight at once") {
  SharedMemory memory(Owned::bytes(16));
  const auto queue = Owned::create(memory, 16);
  Owned::Claimer claimer(queue);
  Owned::Producer producer(queue);
  Owned::Poller poller(queue);
  for (uint64_t run = 0; run < 100; ++run) {
    const uint32_t slots[] = {claimer.tryClaim(), claimer.tryClaim()};
    for (const uint32_t slot : slots) {
      CHECK(slot < 2);
      CHECK(producer.post(slot, completionOf(run)));
      CHECK(poller.poll() == completionOf(run));
    }
    CHECK(claimer.freeCount() == 16);
    CHECK(poller.poll() == std::nullopt);
  }
}
