// Owned completion slots under relaxed memory orders: one submitter, two daemon blocks, one poller, two slots for four
// runs. The submitter keeps plain data beside each slot (what the run was), as the binding does with its callbacks.
#include "base/sqe.hpp"
#include "queues/completion_owned_slots.hpp"
#include "relacy_report.hpp"

namespace dfccl::test {

constexpr uint32_t kSlots = 2;
constexpr unsigned kBlocks = 2;
constexpr unsigned kRuns = 4;

/// Threads 0 and 1 are blocks, each takes every other run; thread 2 submits, thread 3 polls.
template <class Orders>
struct Complete : rl::test_suite<Complete<Orders>, kBlocks + 2> {
  using Queue = CompletionOwnedSlots<Orders>;

  OwnedSlotsHeader header;
  Atomic<uint64_t> slots[kSlots];
  Plain<uint32_t> freeList[kSlots];
  Plain<uint64_t> beside[kSlots];
  Plain<uint64_t> results[kRuns];
  Atomic<uint32_t> submitted[kRuns];  // slot + 1, in place of a submission queue; one word a run adds no other order

  Queue queue() { return {&header, slots, freeList, kSlots}; }

  void before() { queue().reset(0xffffffff); }  // counters wrap on the way

  void thread(unsigned index) {
    if (index < kBlocks) {
      runBlock(index);
    } else if (index == kBlocks) {
      submit();
    } else {
      poll();
    }
  }

  void runBlock(unsigned block) {
    typename Queue::Producer producer(queue());
    for (unsigned run = block; run < kRuns; run += kBlocks) {
      uint32_t slot = 0;
      while ((slot = submitted[run].load(order::acquire)) == 0) pause();
      results[run].set(50 + run);
      require(producer.post(slot - 1, packCqe(7, CqeStatus::completed, run)), "a post is never refused");
    }
  }

  void submit() {
    typename Queue::Claimer claimer(queue());
    for (unsigned run = 0; run < kRuns; ++run) {
      uint32_t slot = kNoCompletionSlot;
      while ((slot = claimer.tryClaim()) == kNoCompletionSlot) pause();
      beside[slot].set(run);
      submitted[run].store(slot + 1, order::release);
    }
  }

  void poll() {
    typename Queue::Poller poller(queue());
    bool isDone[kRuns] = {};
    for (unsigned n = 0; n < kRuns; ++n) {
      auto taken = poller.pollSlot();
      while (taken.slot == kNoCompletionSlot) {
        pause();
        taken = poller.pollSlot();
      }
      const auto run = static_cast<unsigned>(taken.cqe >> 48);
      require(run < kRuns && !isDone[run], "lost or delivered twice");
      isDone[run] = true;
      require(beside[taken.slot].get() == run, "another run's slot");
      require(results[run].get() == 50 + run, "completed before its result");
      poller.free(taken.slot);
    }
    require(!poller.poll(), "one too many");
  }
};

struct WeakR1 : OwnedSlotsOrders {
  static constexpr Order post = order::relaxed;
};
struct WeakA1 : OwnedSlotsOrders {
  static constexpr Order readSlot = order::relaxed;
};
struct WeakR2 : OwnedSlotsOrders {
  static constexpr Order free = order::relaxed;
};
struct WeakA2 : OwnedSlotsOrders {
  static constexpr Order claim = order::relaxed;
};

}  // namespace dfccl::test

int main() {
  using namespace dfccl;
  using namespace dfccl::test;
  RelacyReport report("owned completion slots");
  report.holds<Complete<OwnedSlotsOrders>>("each run is delivered once, with its results");
  report.isCaught<Complete<WeakR1>>("R1 post");
  report.isCaught<Complete<WeakA1>>("A1 readSlot");
  report.isCaught<Complete<WeakR2>>("R2 free");
  report.isCaught<Complete<WeakA2>>("A2 claim");
  return report.finish();
}
