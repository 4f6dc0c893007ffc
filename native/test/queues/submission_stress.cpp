// The ways in: the submission ring, and what the leader tells all blocks.
#include <doctest/doctest.h>

#include "queues/leader_broadcast.hpp"
#include "queues/spmc_submission.hpp"
#include "queues/submission_consumer.hpp"
#include "queues/submission_producer.hpp"
#include "shared_memory.hpp"
#include "stress.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

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
