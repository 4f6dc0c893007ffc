// The SPMC submission ring under relaxed memory orders: one producer, two blocks, capacity 2.
#include "queues/spmc_submission.hpp"
#include "relacy_report.hpp"

namespace dfccl::test {

constexpr uint32_t kCapacity = 2;
constexpr uint32_t kBlocks = 2;
constexpr uint64_t kFirst = 0xfffffffe;  // turns wrap on the way
constexpr uint64_t kEntries = 4;

/// Threads 0 and 1 are blocks, thread 2 produces.
template <class Orders>
struct Deliver : rl::test_suite<Deliver<Orders>, kBlocks + 1> {
  SpmcHeader header;
  SpmcEntry entries[kCapacity];

  SpmcSubmission ring() { return {&header, entries, kCapacity, kBlocks}; }

  void before() { ring().reset(kFirst); }

  void thread(unsigned index) {
    if (index == kBlocks) {
      SpmcProducer<Orders> producer(ring(), kFirst);
      for (uint64_t i = 0; i < kEntries; ++i) {
        const Sqe sqe{.id = 7, .flags = 0, .run = i, .completionSlot = 0, .sendAddress = i * 3, .recvAddress = i * 5};
        while (!producer.trySubmit(sqe)) pause();
      }
      return;
    }
    SpmcConsumer<Orders> consumer(ring(), kFirst);
    for (uint64_t i = 0; i < kEntries; ++i) {
      Sqe sqe{};
      while (!consumer.take(sqe)) pause();
      require(sqe.run == i && sqe.sendAddress == i * 3 && sqe.recvAddress == i * 5, "lost, repeated or torn");
    }
  }
};

struct WeakR1 : SpmcOrders {
  static constexpr Order publish = order::relaxed;
};
struct WeakA1 : SpmcOrders {
  static constexpr Order readTurn = order::relaxed;
};
struct WeakR2 : SpmcOrders {
  static constexpr Order count = order::acquire;
};
struct WeakA2 : SpmcOrders {
  static constexpr Order count = order::release;
};
struct WeakR3 : SpmcOrders {
  static constexpr Order free = order::relaxed;
};
struct WeakA3 : SpmcOrders {
  static constexpr Order claim = order::relaxed;
};

}  // namespace dfccl::test

int main() {
  using namespace dfccl;
  using namespace dfccl::test;
  RelacyReport report("SPMC submission");
  report.holds<Deliver<SpmcOrders>>("every block reads everything, in order");
  report.isCaught<Deliver<WeakR1>>("R1 publish");
  report.isCaught<Deliver<WeakA1>>("A1 readTurn");
  report.isCaught<Deliver<WeakR2>>("R2 count, without its release");
  report.isCaught<Deliver<WeakA2>>("A2 count, without its acquire");
  report.isCaught<Deliver<WeakR3>>("R3 free");
  report.isCaught<Deliver<WeakA3>>("A3 claim");
  return report.finish();
}
