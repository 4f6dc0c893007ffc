// The numbers by which a process names its memory: how long they hold, and when they come again.
#include <doctest/doctest.h>

#include <set>
#include <utility>

#include "processes/support/expect.hpp"
#include "processes/support/windows.hpp"

using namespace dfccl;
using namespace dfccl::test;

TEST_CASE("of memory that is kept nobody asks whether it is still the same, until it is forgotten") {
  Pair pair([](uint32_t rank, const std::shared_ptr<Segment>& segment, Board& shared) -> int {
    if (rank == 0) {
      FakeMemory memory;
      memory.allocate(kGiB, 1024);
      memory.allocate(2 * kGiB, 1024);
      OwnWindows own(segment, memory.driver());
      own.keep(kGiB);
      const uint16_t kept = own.windowOf(kGiB + 8), other = own.windowOf(2 * kGiB);
      const uint64_t before = memory.questions;
      for (int again = 0; again < 3; ++again) EXPECT(own.windowOf(kGiB + 16) == kept);
      EXPECT(memory.questions == before);
      EXPECT(own.windowOf(2 * kGiB) == other);
      EXPECT(memory.questions == before + 1);
      EXPECT(own.forget(kGiB).has_value());
      memory.free(kGiB);
      memory.allocate(kGiB, 1024);
      const uint16_t anew = own.windowOf(kGiB);
      EXPECT(anew != kept);
      EXPECT(own.windowOf(kGiB) == anew);
      EXPECT(memory.questions == before + 2);
    }
    // The other one is there to be told.
    if (rank == 0) shared.reach(1);
    EXPECT(shared.await(1));
    return kFine;
  });
  CHECK(pair.processes.join(0) == kFine);
  CHECK(pair.processes.join(1) == kFine);
}

TEST_CASE("what no run waits for has a window once all others have mapped it, and never where somebody can't") {
  Pair pair([](uint32_t rank, const std::shared_ptr<Segment>& segment, Board& shared) -> int {
    if (rank == 1) {
      FakeView view;
      PeerWindows peers(segment, view.driver());
      EXPECT(shared.await(1));
      peers.take();
      EXPECT(view.mapped.size() == 1);
      shared.reach(2);
      EXPECT(shared.await(3));
      view.fails = true;
      peers.take();
      EXPECT(peers.failureOf(0).empty());
      shared.reach(4);
      EXPECT(shared.await(5));
      return kFine;
    }
    FakeMemory memory;
    OwnWindows own(segment, memory.driver());
    memory.allocate(4096, 64);
    EXPECT(own.mappedWindowOf(4100) == windows::kUnmapped);
    EXPECT(own.size() == 0);  // whoever asks waits for no driver
    own.exportWanted();
    EXPECT(own.size() == 1);
    EXPECT(own.mappedWindowOf(4100) == windows::kUnmapped);
    shared.reach(1);
    EXPECT(shared.await(2));
    const uint16_t window = own.mappedWindowOf(4100);
    EXPECT(window != windows::kUnmapped);
    EXPECT(own.windowOf(4100) == window);

    // Made anew at the same address it is another.
    memory.allocate(4096, 64);
    EXPECT(own.mappedWindowOf(4100) == windows::kUnmapped);
    own.exportWanted();
    shared.reach(3);
    EXPECT(shared.await(4));
    for (int again = 0; again < 2; ++again) EXPECT(own.mappedWindowOf(4100) == windows::kUnmapped);
    try {
      own.windowOf(4100);
      return kWrong;
    } catch (const Error& e) {
      EXPECT(e.status() == dfcclSystemError);
    }

    memory.isPool = true;
    memory.allocate(8192, 64);
    for (int again = 0; again < 3; ++again) {
      EXPECT(own.mappedWindowOf(8192) == windows::kUnmapped);
      own.exportWanted();
    }
    shared.reach(5);
    return kFine;
  });
  CHECK(pair.processes.join(0) == kFine);
  CHECK(pair.processes.join(1) == kFine);
}

TEST_CASE("memory keeps its number however much is opened after it; control: what was refused stays refused") {
  constexpr uint64_t kTurns = 2 * WindowNotes::kCapacity / 100;
  Pair pair([](uint32_t rank, const std::shared_ptr<Segment>& segment, Board& shared) -> int {
    if (rank == 1) {
      FakeView view;
      PeerWindows peers(segment, view.driver());
      EXPECT(shared.await(1));
      peers.take();
      view.fails = true;
      shared.reach(2);
      EXPECT(shared.await(3));
      peers.take();
      view.fails = false;
      shared.reach(4);
      for (uint64_t turn = 5; turn < 5 + 2 * kTurns; turn += 2) {
        EXPECT(shared.await(turn));
        peers.take();
        shared.reach(turn + 1);
      }
      for (;;) pause();
    }
    FakeMemory memory;
    memory.allocate(kGiB, 64);
    memory.allocate(2 * kGiB, 64);
    OwnWindows own(segment, memory.driver());
    const uint16_t window = own.windowOf(kGiB);
    shared.reach(1);
    EXPECT(shared.await(2));
    EXPECT(own.mappedWindowOf(2 * kGiB) == windows::kUnmapped);
    own.exportWanted();
    shared.reach(3);
    EXPECT(shared.await(4));
    uint64_t next = 3 * kGiB;
    for (uint64_t turn = 5; turn < 5 + 2 * kTurns; turn += 2) {
      for (int i = 0; i < 100; ++i, next += 64) {
        memory.allocate(next, 64);
        own.windowOf(next);
      }
      shared.reach(turn);
      EXPECT(shared.await(turn + 1));
    }
    EXPECT(own.windowOf(kGiB) == window);
    EXPECT(own.mappedWindowOf(kGiB) == window);
    EXPECT(own.mappedWindowOf(2 * kGiB) == windows::kUnmapped);
    return kFine;
  });
  CHECK(pair.processes.join(0) == kFine);
}

TEST_CASE("where the others are behind, memory that can't be exported is asked for again") {
  Pair pair([](uint32_t rank, const std::shared_ptr<Segment>& segment, Board& shared) -> int {
    if (rank == 1) {
      FakeView view;
      PeerWindows peers(segment, view.driver());
      EXPECT(shared.await(1));
      peers.take();
      shared.reach(2);
      for (;;) pause();
    }
    FakeMemory memory;
    OwnWindows own(segment, memory.driver());
    for (uint64_t i = 0; i < WindowNotes::kCapacity; ++i) {
      memory.allocate(kGiB + 64 * i, 64);
      own.windowOf(kGiB + 64 * i);
    }
    memory.isPool = true;
    memory.allocate(kGiB, 64);
    EXPECT(own.mappedWindowOf(kGiB) == windows::kUnmapped);
    own.exportWanted();
    EXPECT(own.size() == WindowNotes::kCapacity);
    shared.reach(1);
    EXPECT(shared.await(2));
    EXPECT(own.mappedWindowOf(kGiB) == windows::kUnmapped);
    own.exportWanted();
    const uint64_t tail =
        reinterpret_cast<WindowNotes*>(segment->area(0).windowNotes.load(order::acquire))->tail.load(order::relaxed);
    EXPECT(tail == WindowNotes::kCapacity + 1);  // that its place is free of what was there
    return kFine;
  });
  CHECK(pair.processes.join(0) == kFine);
}

TEST_CASE("numbers of windows come again only after everybody has let go of them") {
  Pair pair([](uint32_t rank, const std::shared_ptr<Segment>& segment, Board& shared) -> int {
    FakeView view;
    FakeMemory memory;
    if (rank == 1) {
      PeerWindows peers(segment, view.driver());
      for (uint32_t turn = 1; turn <= 400; turn += 2) {
        EXPECT(shared.await(turn));
        peers.take();
        EXPECT(view.mapped.size() <= 1);
        shared.reach(turn + 1);
      }
      for (;;) pause();
    }
    OwnWindows own(segment, memory.driver());
    // 1000 pieces each: 65 of them are all numbers that there are.
    std::set<std::pair<uint16_t, uint32_t>> names;
    for (uint32_t turn = 1; turn <= 400; turn += 2) {
      memory.allocate(0x10'0000'0000, 999 * 4 * kGiB + 1);
      const uint16_t window = own.windowOf(0x10'0000'0000);
      // Whoever remembers it with that knows one memory by it.
      EXPECT(names.emplace(window, own.renewals()).second);
      EXPECT((own.renewals() != 0) == (turn > 2 * 65));
      shared.reach(turn);
      EXPECT(shared.await(turn + 1));
    }
    // Without an answer they run out.
    uint32_t more = 0;
    try {
      for (; more < 100; ++more) {
        memory.allocate(0x10'0000'0000, 999 * 4 * kGiB + 1);
        own.windowOf(0x10'0000'0000);
      }
    } catch (const Error& e) {
      EXPECT(e.status() == dfcclOutOfMemory);
    }
    EXPECT(more > 10);
    EXPECT(more < 70);
    return kFine;
  });
  CHECK(pair.processes.join(0) == kFine);
}
