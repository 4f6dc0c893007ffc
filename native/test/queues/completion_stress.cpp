// The ways out, and the whole way in and out.
#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "queues/completion_cas_slots.hpp"
#include "queues/completion_owned_slots.hpp"
#include "queues/completion_packed_ring.hpp"
#include "queues/completion_vanilla_ring.hpp"
#include "queues/leader_broadcast.hpp"
#include "queues/submission_consumer.hpp"
#include "queues/submission_producer.hpp"
#include "shared_memory.hpp"
#include "stress.hpp"

using namespace dfccl;
using namespace dfccl::test;

TEST_CASE_TEMPLATE("completions of three producers are delivered once, after their results", Q, CompletionVanillaRing<>,
                   CompletionPackedRing<>, CompletionCasSlots<>) {
  constexpr unsigned kProducers = 3;
  const uint64_t each = scaled(4000);
  SharedMemory memory(Q::bytes(8));
  const Q queue = Q::create(memory, 8);
  std::vector<uint64_t> results(kProducers * each);
  std::vector<uint8_t> seen(kProducers * each);
  uint64_t errors = 0;
  together(kProducers + 1, [&](unsigned thread) {
    if (thread < kProducers) {
      typename Q::Producer producer(queue);
      for (uint64_t i = 0; i < each; ++i) {
        const uint64_t id = thread * each + i;
        results[id] = id + 1;
        while (!producer.post(kNoCompletionSlot, packCqe(static_cast<uint32_t>(id), CqeStatus::completed, id)))
          giveWay();
      }
      return;
    }
    typename Q::Poller poller(queue);
    for (uint64_t n = 0; n < kProducers * each; ++n) {
      std::optional<uint64_t> cqe;
      while (!(cqe = poller.poll())) giveWay();
      const uint64_t id = *cqe & 0xffffffff;
      if (id >= results.size() || seen[id]++ != 0 || results[id] != id + 1 ||
          *cqe != packCqe(static_cast<uint32_t>(id), CqeStatus::completed, id)) {
        ++errors;
      }
    }
  });
  CHECK(errors == 0);
}

TEST_CASE("the whole way: two submitters, ring, leader, broadcast, two blocks, owned slots, poller") {
  using Queue = CompletionOwnedSlots<>;
  constexpr unsigned kSubmitters = 2;
  constexpr unsigned kBlocks = 2;
  const uint64_t each = scaled(4000);
  SharedMemory ringMemory(SubmissionRing::bytes(16));
  SharedMemory broadcastMemory(LeaderBroadcast<Sqe>::bytes(4, kBlocks));
  SharedMemory completionMemory(Queue::bytes(8));
  const auto ring = SubmissionRing::create(ringMemory, 16, kFirst);
  const auto broadcast = LeaderBroadcast<Sqe>::create(broadcastMemory, 4, kBlocks, kFirst);
  const Queue completions = Queue::create(completionMemory, 8, static_cast<uint32_t>(kFirst));
  std::vector<uint64_t> results(kSubmitters * each);
  std::vector<uint8_t> seen(kSubmitters * each);
  uint64_t beside[8] = {};  // what a submitter keeps for each slot
  uint64_t errors = 0;
  together(kSubmitters + 1 + kBlocks + 1, [&](unsigned thread) {
    if (thread < kSubmitters) {
      SubmissionProducer<> producer(ring, thread + 1);
      Queue::Claimer claimer(completions);
      for (uint64_t i = 0; i < each; ++i) {
        for (;; giveWay()) {
          if (claimer.freeCount() == 0) continue;
          if (producer.tryReserve(1) != Reserve::ok) continue;
          const uint32_t slot = claimer.tryClaim();
          if (slot == kNoCompletionSlot) {  // another submitter took it before the lock was ours
            producer.publish(0);
            continue;
          }
          const uint64_t id = thread * each + i;
          beside[slot] = id;
          Sqe sqe = entryOf(thread, id);
          sqe.completionSlot = slot;
          producer.write(0, sqe);
          producer.publish(1);
          break;
        }
      }
    } else if (thread == kSubmitters) {
      SubmissionConsumer<> consumer(ring);
      BroadcastLeader<Sqe> leader(broadcast);
      for (uint64_t n = 0; n < kSubmitters * each;) {
        Sqe sqe{};
        if (leader.hasRoom() && consumer.take(sqe)) {
          leader.tryPublish(sqe);
          ++n;
        } else {
          giveWay();
        }
      }
    } else if (thread <= kSubmitters + kBlocks) {
      const unsigned block = thread - kSubmitters - 1;
      BroadcastReader<Sqe> reader(broadcast, block);
      Queue::Producer producer(completions);
      for (uint64_t n = 0; n < kSubmitters * each; ++n) {
        Sqe sqe{};
        while (!reader.take(sqe)) giveWay();
        if (n % kBlocks != block) continue;
        results[sqe.run] = sqe.run + 1;
        producer.post(sqe.completionSlot, packCqe(static_cast<uint32_t>(sqe.run), CqeStatus::completed, sqe.run));
      }
    } else {
      Queue::Poller poller(completions);
      for (uint64_t n = 0; n < kSubmitters * each; ++n) {
        auto taken = poller.pollSlot();
        while (taken.slot == kNoCompletionSlot) {
          giveWay();
          taken = poller.pollSlot();
        }
        const uint64_t id = taken.cqe & 0xffffffff;
        if (id >= results.size() || seen[id]++ != 0 || results[id] != id + 1 || beside[taken.slot] != id) ++errors;
        poller.free(taken.slot);
      }
    }
  });
  CHECK(errors == 0);
}
