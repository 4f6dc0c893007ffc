// The submission ring under relaxed memory orders: two producers, one leader, capacity 2, so that every slot is
// refilled. Beside each slot lies plain data that belongs to whoever holds the slot: what a caller may rely on.
#include "queues/submission_consumer.hpp"
#include "queues/submission_producer.hpp"
#include "relacy_report.hpp"

namespace dfccl::test {

constexpr uint32_t kCapacity = 2;
constexpr uint64_t kFirst = 65534;  // sequences wrap on the way
constexpr int kProducers = 2;
constexpr int kEach = 2;

struct RingMemory {
  SubmissionRingHeader header;
  SqeMemory entries[kCapacity];
  Plain<uint64_t> beside[kCapacity];

  SubmissionRing ring() { return {&header, entries, kCapacity}; }
};

Sqe entryOf(uint64_t run) {
  return {.id = static_cast<uint32_t>(run * 3),
          .flags = 0,
          .run = run,
          .completionSlot = static_cast<uint32_t>(run * 5),
          .sendAddress = run * 7,
          .recvAddress = run * 11};
}

void requireWhole(const Sqe& sqe) {
  require(sqe.id == sqe.run * 3 && sqe.completionSlot == sqe.run * 5, "torn entry");
  require(sqe.sendAddress == sqe.run * 7 && sqe.recvAddress == sqe.run * 11, "torn entry");
}

/// Threads 0 and 1 produce, thread 2 is the leader.
template <ReadMode Mode, class Orders>
struct Deliver : rl::test_suite<Deliver<Mode, Orders>, kProducers + 1> {
  RingMemory memory;

  void before() { memory.ring().reset(kFirst); }

  void thread(unsigned index) {
    if (index < kProducers) {
      produce(index);
    } else {
      consume();
    }
  }

  void produce(unsigned index) {
    SubmissionProducer<Orders> producer(memory.ring(), index + 1);
    for (uint64_t i = 0; i < kEach; ++i) {
      while (producer.tryReserve(1) != Reserve::ok) pause();
      const uint64_t run = 10 * (index + 1) + i;
      memory.beside[producer.position() % kCapacity].set(run);
      producer.write(0, entryOf(run));
      producer.publish(1);
    }
  }

  void consume() {
    SubmissionConsumer<Mode, Orders> consumer(memory.ring());
    uint64_t next[kProducers] = {10, 20};
    for (int n = 0; n < kProducers * kEach; ++n) {
      Sqe sqe{};
      while (!consumer.peek(sqe)) pause();
      requireWhole(sqe);
      require(memory.beside[consumer.position() % kCapacity].get() == sqe.run, "stale data beside the entry");
      const int producer = sqe.run < 20 ? 0 : 1;
      require(sqe.run == next[producer]++, "lost, repeated or out of order");
      consumer.pop();
      consumer.release();
    }
  }
};

/// A producer dies after `written` words of its second entry; another one takes over. Thread 2 reads by the words.
/// In the control the next producer simply writes the entry anew.
template <bool FinishesAsVoid>
struct TakeOver : rl::test_suite<TakeOver<FinishesAsVoid>, 3> {
  RingMemory memory;
  Atomic<uint32_t> isDead;

  void before() { memory.ring().reset(0); }

  void thread(unsigned index) {
    if (index == 0) {
      SubmissionProducer<> producer(memory.ring(), 1);
      require(producer.tryReserve(2) == Reserve::ok, "nobody else is here yet");
      producer.write(0, entryOf(10));
      const unsigned written = rl::rand(kSqeWords);
      uint64_t payload[kSqeWords];
      packSqe(entryOf(11), 1, payload);
      for (unsigned i = 0; i < written; ++i) {
        memory.entries[1].words[i].store(sqeSequence(1) | payload[i], order::relaxed);
      }
      isDead.store(1, order::release);
    } else if (index == 1) {
      SubmissionProducer<> producer(memory.ring(), 2);
      while (isDead.load(order::acquire) == 0) pause();
      if constexpr (FinishesAsVoid) {
        require(producer.takeOver(1), "the lock is the dead producer's");
      } else {
        memory.header.tail.store(1, order::release);
        memory.header.producerLock.store(0, order::release);
      }
      const Sqe sqe = entryOf(20);
      while (producer.submit(&sqe, 1) != Reserve::ok) pause();
    } else {
      SubmissionConsumer<ReadMode::words> consumer(memory.ring());
      for (uint64_t expected : {10, 20}) {
        Sqe sqe{};
        while (!consumer.take(sqe)) pause();
        requireWhole(sqe);
        require(sqe.run == expected, "not what was submitted");
      }
    }
  }
};

/// The control of the sequence numbers: a producer that stores a word's sequence before its payload.
struct SequenceFirst : rl::test_suite<SequenceFirst, 2> {
  RingMemory memory;

  void before() { memory.ring().reset(0); }

  void thread(unsigned index) {
    if (index == 0) {
      uint64_t payload[kSqeWords];
      packSqe(entryOf(10), 0, payload);
      for (int i = 0; i < kSqeWords; ++i) {
        memory.entries[0].words[i].store(sqeSequence(0), order::release);
        memory.entries[0].words[i].store(sqeSequence(0) | payload[i], order::release);
      }
    } else {
      SubmissionConsumer<ReadMode::words> consumer(memory.ring());
      Sqe sqe{};
      while (!consumer.take(sqe)) pause();
      requireWhole(sqe);
      require(sqe.run == 10, "not what was submitted");
    }
  }
};

struct WeakR1 : SubmissionOrders {
  static constexpr Order publishTail = order::relaxed;
};
struct WeakA1 : SubmissionOrders {
  static constexpr Order readTail = order::relaxed;
};
struct WeakR2 : SubmissionOrders {
  static constexpr Order publishHead = order::relaxed;
};
struct WeakA2 : SubmissionOrders {
  static constexpr Order readHead = order::relaxed;
};
struct WeakR3 : SubmissionOrders {
  static constexpr Order unlock = order::relaxed;
};
struct WeakA3 : SubmissionOrders {
  static constexpr Order lock = order::relaxed;
};
struct WeakR4 : SubmissionOrders {
  static constexpr Order publishWord = order::relaxed;
};
struct WeakA4 : SubmissionOrders {
  static constexpr Order readWord = order::relaxed;
};

}  // namespace dfccl::test

int main() {
  using namespace dfccl;
  using namespace dfccl::test;
  RelacyReport report("submission ring");
  report.holds<Deliver<ReadMode::tail, SubmissionOrders>>("by the tail");
  report.isCaught<Deliver<ReadMode::tail, WeakR1>>("by the tail: R1 publishTail");
  report.isCaught<Deliver<ReadMode::tail, WeakA1>>("by the tail: A1 readTail");
  report.isCaught<Deliver<ReadMode::tail, WeakR2>>("by the tail: R2 publishHead");
  report.isCaught<Deliver<ReadMode::tail, WeakA2>>("by the tail: A2 readHead");
  report.isCaught<Deliver<ReadMode::tail, WeakR3>>("by the tail: R3 unlock");
  report.isCaught<Deliver<ReadMode::tail, WeakA3>>("by the tail: A3 lock");
  report.holds<Deliver<ReadMode::words, SubmissionOrders>>("by the words");
  report.holds<Deliver<ReadMode::words, WeakR1>>("by the words: nobody reads the tail without the lock");
  report.isCaught<Deliver<ReadMode::words, WeakR2>>("by the words: R2 publishHead");
  report.isCaught<Deliver<ReadMode::words, WeakA2>>("by the words: A2 readHead");
  report.isCaught<Deliver<ReadMode::words, WeakR3>>("by the words: R3 unlock");
  report.isCaught<Deliver<ReadMode::words, WeakA3>>("by the words: A3 lock");
  report.isCaught<Deliver<ReadMode::words, WeakR4>>("by the words: R4 publishWord");
  report.isCaught<Deliver<ReadMode::words, WeakA4>>("by the words: A4 readWord");
  report.isCaught<SequenceFirst>("by the words: payload before sequence");
  report.holds<TakeOver<true>>("a dead producer's lock is taken over");
  report.isCaught<TakeOver<false>>("taking over: the half-written entry becomes void");
  return report.finish();
}
