// Submissions that meet a daemon that leaves, or a worker that falls asleep, under relaxed memory orders.
//
// The verifier lets a sequentially consistent load see every store that was executed before it. That is stronger than
// the standard, so it can't tell S1, L2 or L3 weakened alone from the whole; store_buffer_test.cpp shows S1 by itself.
#include "daemon/loop/try_lock.hpp"
#include "daemon/state/residency.hpp"
#include "queues/relacy_report.hpp"
#include "queues/submission_consumer.hpp"
#include "queues/submission_producer.hpp"

namespace dfccl::test {

constexpr uint32_t kCapacity = 2;

/// Thread 0 submits one entry, thread 1 is the daemon. Whoever sees the daemon out and an entry in the queue starts it.
template <class Orders, bool LooksAgain = true>
struct StartOrQuit : rl::test_suite<StartOrQuit<Orders, LooksAgain>, 2> {
  SubmissionRingHeader header;
  SqeMemory entries[kCapacity];
  BasicResidency<Orders> residency;
  TryLock startLock;
  Atomic<uint32_t> taken;

  SubmissionRing ring() { return {&header, entries, kCapacity}; }

  void before() {
    ring().reset(0);
    residency.enter();
  }

  void thread(unsigned index) {
    if (index == 0) {
      SubmissionProducer<BasicEngineSubmissionOrders<Orders>> producer(ring(), 1);
      Sqe sqe{};
      sqe.id = 3;
      require(producer.submit(&sqe, 1) == Reserve::ok, "the ring is empty");
      if (!residency.isResident()) start();
      return;
    }
    stay();
    residency.leave();
    if (LooksAgain && BasicResidency<Orders>::hasUnseen(ring())) start();
  }
  void after() { require(taken.load(order::relaxed) == 1, "a submission was lost, or taken twice"); }

  void stay() {
    SubmissionConsumer<ReadMode::tail, BasicEngineSubmissionOrders<Orders>> consumer(ring());
    Sqe sqe{};
    if (!consumer.take(sqe)) return;
    require(sqe.id == 3, "another entry");
    taken.fetchAdd(1, order::relaxed);
  }
  void start() {
    if (!startLock.tryLock()) return;  // somebody else starts it
    if (!residency.isResident()) stay();
    startLock.unlock();
  }
};

/// Thread 0 submits one entry and rings if somebody sleeps; thread 1 says that it sleeps and then looks once more.
template <class Orders, Order SayAsleep, Order SeeSleepers>
struct FallAsleep : rl::test_suite<FallAsleep<Orders, SayAsleep, SeeSleepers>, 2> {
  SubmissionRingHeader header;
  SqeMemory entries[kCapacity];
  Atomic<uint32_t> sleepers;
  Atomic<uint32_t> isAsleep, hasRung;

  SubmissionRing ring() { return {&header, entries, kCapacity}; }
  void before() { ring().reset(0); }

  void thread(unsigned index) {
    if (index == 0) {
      SubmissionProducer<BasicEngineSubmissionOrders<Orders>> producer(ring(), 1);
      const Sqe sqe{};
      producer.submit(&sqe, 1);
      if (sleepers.load(SeeSleepers) != 0) hasRung.store(1, order::relaxed);
      return;
    }
    sleepers.fetchAdd(1, SayAsleep);
    if (!BasicResidency<Orders>::hasUnseen(ring())) isAsleep.store(1, order::relaxed);
  }
  void after() {
    require(isAsleep.load(order::relaxed) == 0 || hasRung.load(order::relaxed) == 1, "asleep, and nobody rings");
  }
};

/// Thread 0 submits one entry, rings if somebody sleeps, and starts the daemon itself, as a wait of a stream does; the
/// daemon takes the entry and leaves before the run is over. Thread 1, whose task it is to start it anew, falls asleep.
template <class Orders, bool LooksForStays = true>
struct FallAsleepWhileAnotherStarts : rl::test_suite<FallAsleepWhileAnotherStarts<Orders, LooksForStays>, 2> {
  SubmissionRingHeader header;
  SqeMemory entries[kCapacity];
  BasicResidency<Orders> residency;
  Atomic<uint32_t> sleepers, runsLeft;
  Atomic<uint32_t> isAsleep, hasRung;

  SubmissionRing ring() { return {&header, entries, kCapacity}; }
  void before() { ring().reset(0); }

  void thread(unsigned index) {
    if (index == 1) return keep();
    SubmissionProducer<BasicEngineSubmissionOrders<Orders>> producer(ring(), 1);
    Sqe sqe{};
    producer.submit(&sqe, 1);
    if (sleepers.load(order::seqCst) != 0) hasRung.store(1, order::relaxed);
    residency.enter();
    residency.launches.store(1, order::seqCst);
    SubmissionConsumer<ReadMode::tail, BasicEngineSubmissionOrders<Orders>> consumer(ring());
    require(consumer.take(sqe), "the entry is there");
    runsLeft.store(1, order::relaxed);
    residency.leave();
  }
  void keep() {
    const uint64_t stays = residency.stays();
    if (residency.isResident() || needsStart()) return;
    sleepers.fetchAdd(1, order::seqCst);
    if (needsStart() || (LooksForStays && residency.hasStayedSince(stays))) return;
    isAsleep.store(1, order::relaxed);
  }
  bool needsStart() { return BasicResidency<Orders>::hasUnseen(ring()) || runsLeft.load(order::relaxed) != 0; }
  void after() {
    require(isAsleep.load(order::relaxed) == 0 || hasRung.load(order::relaxed) == 1, "asleep, with a run left behind");
  }
};

struct WeakL1 : ResidencyOrders {
  static constexpr Order seeResident = order::acquire;
};
struct WeakS2 : ResidencyOrders {
  static constexpr Order leave = order::release;
};
struct ReleaseAcquire : ResidencyOrders {
  static constexpr Order publishTail = order::release;
  static constexpr Order seeResident = order::acquire;
  static constexpr Order leave = order::release;
  static constexpr Order seeTail = order::acquire;
};

}  // namespace dfccl::test

int main() {
  using namespace dfccl;
  using namespace dfccl::test;
  RelacyReport report("start, quit and sleep");
  report.holds<StartOrQuit<ResidencyOrders>>("a submission that meets a leaving daemon is taken once");
  report.isCaught<StartOrQuit<ReleaseAcquire>>("release and acquire everywhere");
  report.isCaught<StartOrQuit<WeakL1>>("L1 seeResident");
  report.isCaught<StartOrQuit<WeakS2>>("S2 leave");
  report.isCaught<StartOrQuit<ResidencyOrders, false>>("no second look");
  report.holds<FallAsleep<ResidencyOrders, order::seqCst, order::seqCst>>("a submission wakes who falls asleep");
  report.isCaught<FallAsleep<ResidencyOrders, order::release, order::seqCst>>("release when falling asleep");
  report.isCaught<FallAsleep<ResidencyOrders, order::seqCst, order::acquire>>("acquire when looking for sleepers");
  report.holds<FallAsleepWhileAnotherStarts<ResidencyOrders>>("who falls asleep sees a stay that another has begun");
  report.isCaught<FallAsleepWhileAnotherStarts<ResidencyOrders, false>>("no look for another's stay");
  return report.finish();
}
