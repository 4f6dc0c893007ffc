// The rings and the CAS slots under relaxed memory orders: two producers, one poller, two entries, so that each entry
// is used twice. A completion stands for results, which are plain data here.
#include "base/sqe.hpp"
#include "queues/completion_cas_slots.hpp"
#include "queues/completion_packed_ring.hpp"
#include "queues/completion_vanilla_ring.hpp"
#include "relacy_report.hpp"

namespace dfccl::test {

constexpr uint32_t kCapacity = 2;
constexpr unsigned kProducers = 2;
constexpr unsigned kEach = 2;
constexpr uint64_t kFirst = 0xfffffffe;

template <class Orders>
struct VanillaMemory {
  VanillaRingHeader header;
  Plain<uint64_t> entries[kCapacity];
  CompletionVanillaRing<Orders> queue() { return {&header, entries, kCapacity}; }
  void reset() { queue().reset(kFirst); }
};

template <class Orders>
struct PackedMemory {
  PackedRingHeader header;
  Atomic<uint64_t> entries[kCapacity];
  CompletionPackedRing<Orders> queue() { return {&header, entries, kCapacity}; }
  void reset() { queue().reset(kFirst); }
};

template <class Orders>
struct CasMemory {
  CasSlotsHeader header;
  Atomic<uint64_t> slots[kCapacity];
  CompletionCasSlots<Orders> queue() { return {&header, slots, kCapacity}; }
  void reset() {}
};

/// Threads 0 and 1 post, thread 2 polls.
template <class Memory, bool IsOrdered>
struct Complete : rl::test_suite<Complete<Memory, IsOrdered>, kProducers + 1> {
  Memory memory;
  Plain<uint64_t> results[kProducers * kEach];

  void before() { memory.reset(); }

  void thread(unsigned index) {
    auto queue = memory.queue();
    if (index < kProducers) {
      typename decltype(queue)::Producer producer(queue);
      for (unsigned i = 0; i < kEach; ++i) {
        const unsigned id = index * kEach + i;
        results[id].set(50 + id);
        while (!producer.post(kNoCompletionSlot, packCqe(id, CqeStatus::completed, id + 9))) pause();
      }
      return;
    }
    typename decltype(queue)::Poller poller(queue);
    bool isDone[kProducers * kEach] = {};
    for (unsigned n = 0; n < kProducers * kEach; ++n) {
      std::optional<uint64_t> cqe;
      while (!(cqe = poller.poll())) pause();
      const auto id = static_cast<unsigned>(*cqe & 0xffffffff);
      require(id < kProducers * kEach && *cqe == packCqe(id, CqeStatus::completed, id + 9), "not a posted completion");
      require(!isDone[id], "delivered twice");
      isDone[id] = true;
      if (IsOrdered && id % kEach != 0) require(isDone[id - 1], "out of order");
      require(results[id].get() == 50 + id, "completed before its result");
    }
    require(!poller.poll(), "one too many");
  }
};

template <class Orders>
using Vanilla = Complete<VanillaMemory<Orders>, true>;
template <class Orders>
using Packed = Complete<PackedMemory<Orders>, true>;
template <class Orders>
using Cas = Complete<CasMemory<Orders>, false>;

struct VanillaWeakR1 : VanillaRingOrders {
  static constexpr Order publishTail = order::relaxed;
};
struct VanillaWeakA1 : VanillaRingOrders {
  static constexpr Order readTail = order::relaxed;
};
struct VanillaWeakR2 : VanillaRingOrders {
  static constexpr Order publishHead = order::relaxed;
};
struct VanillaWeakA2 : VanillaRingOrders {
  static constexpr Order readHead = order::relaxed;
};
struct VanillaWeakR3 : VanillaRingOrders {
  static constexpr Order unlock = order::relaxed;
};
struct VanillaWeakA3 : VanillaRingOrders {
  static constexpr Order lock = order::relaxed;
};
struct PackedWeakR1 : PackedRingOrders {
  static constexpr Order publish = order::relaxed;
};
struct PackedWeakA1 : PackedRingOrders {
  static constexpr Order readEntry = order::relaxed;
};
struct CasWeakR1 : CasSlotsOrders {
  static constexpr Order post = order::relaxed;
};
struct CasWeakA1 : CasSlotsOrders {
  static constexpr Order readSlot = order::relaxed;
};

}  // namespace dfccl::test

int main() {
  using namespace dfccl;
  using namespace dfccl::test;
  RelacyReport report("completion queues");
  report.holds<Vanilla<VanillaRingOrders>>("vanilla ring");
  report.isCaught<Vanilla<VanillaWeakR1>>("vanilla ring: R1 publishTail");
  report.isCaught<Vanilla<VanillaWeakA1>>("vanilla ring: A1 readTail");
  report.isCaught<Vanilla<VanillaWeakR2>>("vanilla ring: R2 publishHead");
  report.isCaught<Vanilla<VanillaWeakA2>>("vanilla ring: A2 readHead");
  report.isCaught<Vanilla<VanillaWeakR3>>("vanilla ring: R3 unlock");
  report.isCaught<Vanilla<VanillaWeakA3>>("vanilla ring: A3 lock");
  report.holds<Packed<PackedRingOrders>>("packed ring");
  report.isCaught<Packed<PackedWeakR1>>("packed ring: R1 publish");
  report.isCaught<Packed<PackedWeakA1>>("packed ring: A1 readEntry");
  report.holds<Cas<CasSlotsOrders>>("CAS slots");
  report.isCaught<Cas<CasWeakR1>>("CAS slots: R1 post");
  report.isCaught<Cas<CasWeakA1>>("CAS slots: A1 readSlot");
  return report.finish();
}
