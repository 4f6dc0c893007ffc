// Every queue with several threads on each end that may have several, small capacities and counters about to wrap.
// Meant for ThreadSanitizer; DFCCL_STRESS=N makes it N times as long.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "queues/block_pool.hpp"
#include "queues/completion_cas_slots.hpp"
#include "queues/completion_owned_slots.hpp"
#include "queues/completion_packed_ring.hpp"
#include "queues/completion_vanilla_ring.hpp"
#include "queues/leader_broadcast.hpp"
#include "queues/spmc_submission.hpp"
#include "queues/submission_consumer.hpp"
#include "queues/submission_producer.hpp"
#include "queues/wave.hpp"
#include "queues/worker_buffer.hpp"
#include "shared_memory.hpp"

using namespace dfccl;
using dfccl::test::SharedMemory;

namespace {

constexpr uint64_t kFirst = (1ull << 32) - 50;

uint64_t scaled(uint64_t n) {
  const char* factor = std::getenv("DFCCL_STRESS");
  return n * (factor != nullptr ? std::max(1ull, std::strtoull(factor, nullptr, 10)) : 1);
}

void giveWay() { std::this_thread::yield(); }

/// Runs body(0) ... body(count - 1) at the same time. Threads count errors; doctest is asked on this thread only.
void together(unsigned count, const std::function<void(unsigned)>& body) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (auto& thread : threads) thread.join();
}

Sqe entryOf(uint64_t producer, uint64_t i) {
  return {.id = static_cast<uint32_t>(producer),
          .flags = 0,
          .run = i,
          .completionSlot = static_cast<uint32_t>(i),
          .sendAddress = i * 3,
          .recvAddress = i * 5 + producer};
}

bool isEntry(const Sqe& sqe, uint64_t producer, uint64_t i) {
  return sqe.id == producer && sqe.run == i && sqe.completionSlot == static_cast<uint32_t>(i) &&
         sqe.sendAddress == i * 3 && sqe.recvAddress == i * 5 + producer;
}

template <ReadMode Mode>
uint64_t submissionErrors() {
  constexpr unsigned kProducers = 3;
  const uint64_t each = scaled(4000);
  SharedMemory memory(SubmissionRing::bytes(8));
  const auto ring = SubmissionRing::create(memory, 8, kFirst);
  uint64_t errors = 0;
  together(kProducers + 1, [&](unsigned thread) {
    if (thread < kProducers) {
      SubmissionProducer<> producer(ring, thread + 1);
      for (uint64_t i = 0; i < each;) {
        Sqe batch[4];
        const auto n = static_cast<uint32_t>(std::min<uint64_t>(1 + i % 4, each - i));
        for (uint32_t k = 0; k < n; ++k) batch[k] = entryOf(thread, i + k);
        while (producer.submit(batch, n) != Reserve::ok) giveWay();
        i += n;
      }
      return;
    }
    SubmissionConsumer<Mode> consumer(ring);
    uint64_t next[kProducers] = {};
    for (uint64_t n = 0; n < kProducers * each; ++n) {
      Sqe sqe{};
      while (!consumer.take(sqe)) giveWay();
      if (sqe.id >= kProducers || !isEntry(sqe, sqe.id, next[sqe.id]++)) ++errors;
    }
  });
  return errors;
}

}  // namespace

TEST_CASE("submission ring: three producers, read by the tail") { CHECK(submissionErrors<ReadMode::tail>() == 0); }

TEST_CASE("submission ring: three producers, read by the words") { CHECK(submissionErrors<ReadMode::words>() == 0); }

TEST_CASE("submission ring: producers that die in the middle of an entry are taken over") {
  const uint64_t rounds = scaled(1500);
  SharedMemory memory(SubmissionRing::bytes(8));
  const auto ring = SubmissionRing::create(memory, 8, kFirst);
  uint64_t errors = 0;
  together(2, [&](unsigned thread) {
    if (thread == 0) {
      for (uint64_t i = 0; i < rounds; ++i) {
        SubmissionProducer<> dead(ring, 1);
        while (dead.tryReserve(2) != Reserve::ok) giveWay();
        dead.write(0, entryOf(1, i));
        uint64_t payload[kSqeWords];
        packSqe(entryOf(9, i), dead.position() + 1, payload);
        for (uint64_t w = 0; w < i % kSqeWords; ++w) {
          const uint64_t word = sqeSequence(dead.position() + 1) | payload[w];
          ring.slot(dead.position() + 1).words[w].store(word, order::relaxed);
        }
        SubmissionProducer<> heir(ring, 2);
        if (!heir.takeOver(1)) std::abort();
        const Sqe sqe = entryOf(2, i);
        while (heir.submit(&sqe, 1) != Reserve::ok) giveWay();
      }
      return;
    }
    SubmissionConsumer<ReadMode::words> consumer(ring);
    for (uint64_t n = 0; n < 2 * rounds; ++n) {
      Sqe sqe{};
      while (!consumer.take(sqe)) giveWay();
      if (!isEntry(sqe, 1 + n % 2, n / 2)) ++errors;
    }
  });
  CHECK(errors == 0);
}

TEST_CASE("leader broadcast: three blocks see the same sequence") {
  constexpr unsigned kBlocks = 3;
  const uint64_t count = scaled(6000);
  using Ring = LeaderBroadcast<Sqe>;
  SharedMemory memory(Ring::bytes(4, kBlocks));
  const Ring ring = Ring::create(memory, 4, kBlocks, kFirst);
  uint64_t errors[kBlocks] = {};
  together(kBlocks + 1, [&](unsigned thread) {
    if (thread == kBlocks) {
      BroadcastLeader<Sqe> leader(ring);
      for (uint64_t i = 0; i < count; ++i) {
        while (!leader.tryPublish(entryOf(7, i))) giveWay();
      }
      return;
    }
    BroadcastReader<Sqe> reader(ring, thread);
    for (uint64_t i = 0; i < count; ++i) {
      Sqe sqe{};
      while (!reader.take(sqe)) giveWay();
      if (!isEntry(sqe, 7, i)) ++errors[thread];
    }
  });
  for (const uint64_t e : errors) CHECK(e == 0);
}

TEST_CASE("SPMC submission: three blocks see the same sequence") {
  constexpr unsigned kBlocks = 3;
  const uint64_t count = scaled(6000);
  SharedMemory memory(SpmcSubmission::bytes(4));
  const auto ring = SpmcSubmission::create(memory, 4, kBlocks, kFirst);
  uint64_t errors[kBlocks] = {};
  together(kBlocks + 1, [&](unsigned thread) {
    if (thread == kBlocks) {
      SpmcProducer<> producer(ring, kFirst);
      for (uint64_t i = 0; i < count; ++i) {
        while (!producer.trySubmit(entryOf(7, i))) giveWay();
      }
      return;
    }
    SpmcConsumer<> consumer(ring, kFirst);
    for (uint64_t i = 0; i < count; ++i) {
      Sqe sqe{};
      while (!consumer.take(sqe)) giveWay();
      if (!isEntry(sqe, 7, i)) ++errors[thread];
    }
  });
  for (const uint64_t e : errors) CHECK(e == 0);
}

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

TEST_CASE("flip-flop, worker buffers and block pool: three workers, one trainer, blocks go round") {
  constexpr unsigned kWorkers = 3;
  constexpr uint32_t kBlocks = 6;
  const uint64_t each = scaled(3000);
  struct Block {
    Atomic<uint32_t>* status;
    uint64_t worker;
    uint64_t value;
  };
  FlipFlop<> flipFlop{};
  std::vector<Block> blocks(kWorkers * kBlocks);
  std::vector<Atomic<uint32_t>> status(kWorkers * kBlocks);
  uint64_t errors = 0;
  together(kWorkers + 1, [&](unsigned thread) {
    if (thread < kWorkers) {
      uint64_t storage[4];
      WorkerBuffer<> buffer(flipFlop, storage, 4);
      BlockPool<> pool(&status[thread * kBlocks], kBlocks);
      for (uint64_t i = 1; i <= each; ++i) {
        uint32_t number = kNoBlock;
        while ((number = pool.tryAcquire()) == kNoBlock) {
          buffer.flush();
          giveWay();
        }
        Block& block = blocks[thread * kBlocks + number];
        block = {&status[thread * kBlocks + number], thread, i};
        while (!buffer.push(reinterpret_cast<uint64_t>(&block))) giveWay();
      }
      while (!buffer.flush()) giveWay();
      return;
    }
    BlockHolder<> holder;
    uint64_t next[kWorkers] = {1, 1, 1};
    for (uint64_t n = 0; n < kWorkers * each; ++n) {
      auto* block = reinterpret_cast<Block*>(flipFlop.get(giveWay));
      holder.hold(*block->status);
      if (block->worker >= kWorkers || block->value != next[block->worker]++) ++errors;
    }
    holder.release();
  });
  CHECK(errors == 0);
}

TEST_CASE("wave and padded wave: three workers, every round collected whole") {
  constexpr unsigned kWorkers = 3;
  const uint64_t rounds = scaled(2000);
  for (const bool isPadded : {false, true}) {
    Wave wave{};
    WavePaddedWord control{};
    WavePaddedWord finished[kWorkers]{};
    uint64_t input = 0;
    uint64_t output[kWorkers] = {};
    uint64_t errors = 0;
    const auto work = [&](auto worker, unsigned index) {
      for (uint64_t round = 1; round <= rounds; ++round) {
        while (!worker.isStarted()) giveWay();
        output[index] = input + index;
        worker.finish();
      }
    };
    const auto call = [&](auto caller) {
      for (uint64_t round = 1; round <= rounds; ++round) {
        input = round * 10;
        caller.start();
        while (!caller.isCollected()) giveWay();
        for (unsigned w = 0; w < kWorkers; ++w) errors += output[w] != round * 10 + w;
      }
    };
    together(kWorkers + 1, [&](unsigned thread) {
      if (thread < kWorkers) {
        if (isPadded) {
          work(WavePaddedWorker<>(control, finished[thread]), thread);
        } else {
          work(WaveWorker<>(wave), thread);
        }
      } else if (isPadded) {
        call(WavePaddedCaller<>(control, finished, kWorkers));
      } else {
        call(WaveCaller<>(wave, kWorkers));
      }
    });
    CHECK(errors == 0);
  }
}
