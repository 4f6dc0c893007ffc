// What processes tell one another of memory that they may map, and what the others see.
#include <doctest/doctest.h>

#include "processes/support/contains.hpp"
#include "processes/support/expect.hpp"
#include "processes/support/windows.hpp"

using namespace dfccl;
using namespace dfccl::test;

TEST_CASE("memory is seen where it is mapped, in all of its pieces, and made anew only under another name") {
  Pair pair([](uint32_t rank, const std::shared_ptr<Segment>& segment, Board& shared) -> int {
    if (rank == 0) {
      FakeMemory memory;
      memory.allocate(0x7f00'c000'0000, 10 * kGiB);  // in four pieces
      memory.allocate(0x7f80'0000'0200, 512);
      OwnWindows own(segment, memory.driver());
      const uint64_t addresses[] = {0x7f00'c000'0000, 0x7f00'ffff'ffff, 0x7f01'0000'0000, 0x7f03'3fff'ffff,
                                    0x7f80'0000'0300};
      for (size_t i = 0; i < 5; ++i) {
        shared.names[i] = windows::named(addresses[i], own.windowOf(addresses[i]));
        shared.identities[i] = memory.at(addresses[i]).identity;
      }
      EXPECT(own.size() == 2);
      EXPECT(windows::named(0x7f80'0000'0300, own.windowOf(0x7f80'0000'0300)) == shared.names[4]);
      shared.reach(1);
      EXPECT(shared.await(2));
      // Freed, and made anew at the same address, smaller, without a word.
      memory.free(0x7f80'0000'0200);
      memory.allocate(0x7f80'0000'0200, 256);
      shared.names[5] = windows::named(0x7f80'0000'0210, own.windowOf(0x7f80'0000'0210));
      shared.identities[5] = memory.at(0x7f80'0000'0210).identity;
      EXPECT(shared.names[5] >> 32 != shared.names[4] >> 32);
      shared.reach(3);
      EXPECT(shared.await(4));
      // Freed, and nothing is there any more.
      memory.free(0x7f80'0000'0200);
      own.sweep();
      EXPECT(own.size() == 1);
      shared.reach(5);
      EXPECT(shared.await(6));
      return kFine;
    }
    FakeView view;
    PeerWindows peers(segment, view.driver());
    EXPECT(shared.await(1));
    EXPECT(windows::seen(view.table.data(), shared.names[0]) == 0);
    peers.take();
    const uint64_t first = 0x7f00'c000'0000;
    const uint64_t large = FakeView::placeOf(shared.identities[0]), small = FakeView::placeOf(shared.identities[4]);
    EXPECT(windows::seen(view.table.data(), shared.names[0]) == large);
    EXPECT(windows::seen(view.table.data(), shared.names[1]) == large + 0x7f00'ffff'ffff - first);
    EXPECT(windows::seen(view.table.data(), shared.names[2]) == large + 0x7f01'0000'0000 - first);
    EXPECT(windows::seen(view.table.data(), shared.names[3]) == large + 0x7f03'3fff'ffff - first);
    EXPECT(windows::seen(view.table.data(), shared.names[4]) == small + 0x100);
    EXPECT(peers.firstOf(0).seenAt == large);
    EXPECT(peers.failureOf(0).empty());
    shared.reach(2);
    EXPECT(shared.await(3));
    EXPECT(windows::seen(view.table.data(), shared.names[5]) == 0);
    peers.take();
    EXPECT(windows::seen(view.table.data(), shared.names[4]) == 0);
    EXPECT(windows::seen(view.table.data(), shared.names[5]) == FakeView::placeOf(shared.identities[5]) + 0x10);
    EXPECT(view.mapped.size() == 2);
    shared.reach(4);
    EXPECT(shared.await(5));
    // Not yet: nothing goes there any more, and its owner is not told that it may be freed.
    view.mustWait = true;
    EXPECT(!peers.take());
    EXPECT(windows::seen(view.table.data(), shared.names[5]) == 0);
    EXPECT(view.mapped.size() == 2);
    view.mustWait = false;
    EXPECT(peers.take());
    EXPECT(windows::seen(view.table.data(), shared.names[5]) == 0);
    EXPECT(view.mapped.size() == 1);
    peers.close();
    EXPECT(view.mapped.empty());
    shared.reach(6);
    return kFine;
  });
  CHECK(pair.processes.join(0) == kFine);
  CHECK(pair.processes.join(1) == kFine);
}

TEST_CASE("who is told more than the others take note of is told so, and goes on when they do or are gone") {
  Pair pair([](uint32_t rank, const std::shared_ptr<Segment>& segment, Board& shared) -> int {
    if (rank == 1) {
      FakeView view;
      PeerWindows peers(segment, view.driver());
      EXPECT(shared.await(1));
      peers.take();
      shared.reach(2);
      EXPECT(shared.await(3));
      kill(getpid(), SIGKILL);
    }
    FakeMemory memory;
    OwnWindows own(segment, memory.driver());
    const auto fill = [&] {
      for (uint32_t i = 0; i < 2 * WindowNotes::kCapacity; ++i) {
        memory.allocate(4096, 64);
        try {
          own.windowOf(4096);
        } catch (const Error& e) {
          return e.status() == dfcclQueueFull ? i : 0;
        }
      }
      return 0u;
    };
    EXPECT(fill() > 0);
    shared.reach(1);
    EXPECT(shared.await(2));
    // What failed comes through now, and the numbers of what was closed may be used again.
    memory.allocate(4096, 64);
    own.windowOf(4096);
    EXPECT(own.size() == 1);
    EXPECT(fill() > 0);
    shared.reach(3);
    EXPECT(shared.peerEnded.await(1));
    EXPECT(segment->isProcessGone(1));
    segment->area(1).presence.store(static_cast<uint32_t>(Presence::died), order::release);
    EXPECT(fill() == 0);
    return kFine;
  });
  CHECK(pair.processes.join(1) == -SIGKILL);
  pair.board->peerEnded.add(1);
  CHECK(pair.processes.join(0) == kFine);
}

TEST_CASE("memory that can't be shared is refused before anybody is told, and what can't be mapped is remembered") {
  Pair pair([](uint32_t rank, const std::shared_ptr<Segment>& segment, Board& shared) -> int {
    if (rank == 1) {
      FakeView view;
      view.fails = true;
      PeerWindows peers(segment, view.driver());
      EXPECT(shared.await(1));
      peers.take();
      EXPECT(contains(peers.failureOf(0), "It can't be mapped."));
      EXPECT(view.mapped.empty());
      shared.reach(2);
      return kFine;
    }
    FakeMemory memory;
    OwnWindows own(segment, memory.driver());
    memory.allocate(4096, 64);
    memory.isPool = true;
    for (const uint64_t address : {uint64_t{4096}, uint64_t{1} << 20}) {
      try {
        own.windowOf(address);
        return kWrong;
      } catch (const Error& e) {
        EXPECT(e.status() == dfcclInvalidArgument);
      }
    }
    EXPECT(own.size() == 0);
    memory.isPool = false;
    own.windowOf(4096);
    shared.reach(1);
    EXPECT(shared.await(2));
    return kFine;
  });
  CHECK(pair.processes.join(0) == kFine);
  CHECK(pair.processes.join(1) == kFine);
}
