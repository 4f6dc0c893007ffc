// What processes tell one another of memory that they may map, with drivers of the test's in place of CUDA's.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "daemon/state/windows.hpp"
#include "processes/own_windows.hpp"
#include "processes/peer_windows.hpp"
#include "processes/rendezvous.hpp"
#include "processes/support/contains.hpp"
#include "processes/support/expect.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/shared_board.hpp"
#include "processes/support/shared_count.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

std::shared_ptr<Segment> meetAs(const std::string& job, uint32_t rank, uint32_t ranks) {
  MeetingOptions options;
  options.job = job;
  options.rank = rank;
  options.timeoutMillis = 20'000;
  options.shape = {"1.0", ranks, 1, 64, 128, 32 << 10, 64 << 10, size_t{1} << 28, 1};
  return meet(options);
}

/// An address space in which the test allocates. Identities only grow.
struct FakeMemory {
  std::map<uint64_t, OwnMemory> allocations;
  uint64_t identities = 0;
  mutable uint64_t questions = 0;  // whether an allocation is still the same
  bool isPool = false;

  void allocate(uint64_t first, uint64_t bytes) { allocations[first] = {first, bytes, ++identities}; }
  void free(uint64_t first) { allocations.erase(first); }
  OwnMemory at(uint64_t address) const {
    auto found = allocations.upper_bound(address);
    if (found == allocations.begin()) return {};
    --found;
    return address - found->first < found->second.bytes ? found->second : OwnMemory{};
  }
  ExportingDriver driver() {
    return {[this](uint64_t address) { return at(address); },
            [this](uint64_t address) {
              ++questions;
              return at(address).identity;
            },
            [this](const OwnMemory& memory, uint8_t(&handle)[WindowNote::kHandleBytes]) {
              if (isPool) throw Error(dfcclInvalidArgument, "A pool's.", "Use another.");
              std::memcpy(handle, &memory.identity, sizeof memory.identity);
            }};
  }
};

/// What a process sees of another's memory: every allocation at a place that its identity gives.
struct FakeView {
  std::vector<Atomic<uint64_t>> table = std::vector<Atomic<uint64_t>>(windows::kCount);
  std::map<uint64_t, uint64_t> mapped;  // identity, by where
  bool fails = false;

  static uint64_t placeOf(uint64_t identity) { return 0x1000'0000'0000 + identity * 0x10'0000'0000; }
  ImportingDriver driver() {
    return {[this](uint32_t, const WindowNote& note) {
              if (fails) throw Error(dfcclSystemError, "It can't be mapped.", "Ask why.");
              uint64_t identity = 0;
              std::memcpy(&identity, note.handle, sizeof identity);
              mapped[placeOf(identity)] = identity;
              return placeOf(identity);
            },
            [this](uint32_t, uint64_t seenAt) { mapped.erase(seenAt); },
            [this](uint32_t, uint16_t window, const std::vector<uint64_t>& bases) {
              for (size_t i = 0; i < bases.size(); ++i) table[window + i].store(bases[i], order::release);
            }};
  }
};

/// What a test's rank 0 names for its rank 1, and whose turn it is: they take turns, and sleep until theirs comes.
struct Board {
  uint64_t names[8];
  uint64_t identities[8];
  SharedCount turn;
  SharedCount peerEnded;

  void reach(uint32_t number) { turn.add(number - turn.read()); }  // only one of them is at it
  bool await(uint32_t number) { return turn.await(number); }
};

/// Two processes of a job, and the board that both see.
struct Pair {
  using Task = std::function<int(uint32_t rank, const std::shared_ptr<Segment>& segment, Board& board)>;

  explicit Pair(const Task& task)
      : processes(2, [&](uint32_t rank) { return task(rank, meetAs(job, rank, 2), *board); }) {}

  const std::string job = newJob();
  SharedBoard<Board> board;
  Processes processes;
};

}  // namespace

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
    peers.take();
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
    for (uint32_t turn = 1; turn <= 400; turn += 2) {
      memory.allocate(0x10'0000'0000, 999 * 4 * kGiB + 1);
      own.windowOf(0x10'0000'0000);
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
