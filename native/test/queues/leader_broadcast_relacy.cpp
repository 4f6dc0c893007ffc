// The leader broadcast under relaxed memory orders: one leader, two blocks, capacity 2, so that slots are refilled.
#include "queues/leader_broadcast.hpp"
#include "relacy_report.hpp"

namespace dfccl::test {

constexpr uint32_t kCapacity = 2;
constexpr uint32_t kBlocks = 2;
constexpr uint64_t kEntries = 4;

/// Threads 0 and 1 are blocks, thread 2 is the leader.
template <class Orders>
struct Broadcast : rl::test_suite<Broadcast<Orders>, kBlocks + 1> {
  LeaderBroadcastHeader header;
  BroadcastCursor cursors[kBlocks];
  Plain<uint64_t> entries[kCapacity];

  LeaderBroadcast<uint64_t> ring() { return {&header, cursors, entries, kCapacity, kBlocks}; }

  void thread(unsigned index) {
    if (index == kBlocks) {
      BroadcastLeader<uint64_t, Orders> leader(ring());
      for (uint64_t i = 0; i < kEntries; ++i) {
        while (!leader.tryPublish(100 + i)) pause();
      }
      return;
    }
    BroadcastReader<uint64_t, Orders> reader(ring(), index);
    for (uint64_t i = 0; i < kEntries; ++i) {
      uint64_t entry = 0;
      while (!reader.take(entry)) pause();
      require(entry == 100 + i, "lost, repeated or overwritten");
    }
  }
};

/// A block that is stuck for good: the leader must stop, not overwrite.
struct StuckBlock : rl::test_suite<StuckBlock, 2> {
  LeaderBroadcastHeader header;
  BroadcastCursor cursors[kBlocks];
  Plain<uint64_t> entries[kCapacity];

  void thread(unsigned index) {
    LeaderBroadcast<uint64_t> ring{&header, cursors, entries, kCapacity, kBlocks};
    if (index == 0) {
      BroadcastLeader<uint64_t> leader(ring);
      uint64_t published = 0;
      for (int attempt = 0; attempt < 6; ++attempt) {
        if (leader.tryPublish(100 + published)) ++published;
      }
      require(published == kCapacity, "went past a block that reads nothing");
    } else {
      BroadcastReader<uint64_t> reader(ring, 0);
      for (uint64_t i = 0; i < kCapacity; ++i) {
        uint64_t entry = 0;
        while (!reader.take(entry)) pause();
        require(entry == 100 + i, "lost, repeated or overwritten");
      }
    }
  }
};

struct WeakR1 : BroadcastOrders {
  static constexpr Order publishTail = order::relaxed;
};
struct WeakA1 : BroadcastOrders {
  static constexpr Order readTail = order::relaxed;
};
struct WeakR2 : BroadcastOrders {
  static constexpr Order passSlot = order::relaxed;
};
struct WeakA2 : BroadcastOrders {
  static constexpr Order readCursor = order::relaxed;
};

}  // namespace dfccl::test

int main() {
  using namespace dfccl;
  using namespace dfccl::test;
  RelacyReport report("leader broadcast");
  report.holds<Broadcast<BroadcastOrders>>("every block reads everything, in order");
  report.holds<StuckBlock>("a stuck block stops the leader only");
  report.isCaught<Broadcast<WeakR1>>("R1 publishTail");
  report.isCaught<Broadcast<WeakA1>>("A1 readTail");
  report.isCaught<Broadcast<WeakR2>>("R2 passSlot");
  report.isCaught<Broadcast<WeakA2>>("A2 readCursor");
  return report.finish();
}
