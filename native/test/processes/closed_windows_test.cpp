// Memory that was freed and can't be unmapped yet: a device that is never idle must not keep what is new from being
// mapped.
#include <doctest/doctest.h>

#include "processes/support/expect.hpp"
#include "processes/support/windows.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint64_t kSmall = 1024, kLarge = kGiB;

/// Rank 1 maps what rank 0 has, while it may not unmap anything from turn 2 on, until turn 6.
/// names[turn]: how much of what is there it can't do. identities[turn]: gets how much it has mapped.
int mapBesideBusyDevice(const std::shared_ptr<Segment>& segment, Board& shared, bool isOneBlock = false) {
  FakeView view;
  view.isOneBlock = isOneBlock;
  PeerWindows peers(segment, view.driver());
  for (uint32_t turn = 1; turn <= 7; turn += 2) {
    EXPECT(shared.await(turn));
    view.mustWait = turn > 1 && turn < 7;
    EXPECT(peers.take() == (shared.names[turn] == 0));
    shared.identities[turn] = view.mapped.size();
    shared.reach(turn + 1);
  }
  EXPECT(shared.await(9));
  return kFine;
}

/// Rank 0 has memory mapped, frees it, and has other memory of as many bytes, at the same address.
/// @param isMapped what is expected of the other one while the first can't be unmapped.
int freeAndMakeAnew(const std::shared_ptr<Segment>& segment, Board& shared, uint64_t bytes, bool isMapped) {
  FakeMemory memory;
  OwnWindows own(segment, memory.driver());
  const auto wanted = [&] {
    const uint16_t window = own.mappedWindowOf(kGiB);
    own.exportWanted();
    return window;
  };
  memory.allocate(kGiB, bytes);
  EXPECT(wanted() == windows::kUnmapped);
  shared.reach(1);
  EXPECT(shared.await(2));
  const uint16_t first = wanted();
  EXPECT(first != windows::kUnmapped);
  memory.free(kGiB);
  memory.allocate(kGiB, bytes);
  EXPECT(wanted() == windows::kUnmapped);
  shared.names[3] = shared.names[5] = 1;
  shared.reach(3);
  EXPECT(shared.await(4));
  EXPECT((wanted() != windows::kUnmapped) == isMapped);
  EXPECT(shared.identities[3] == (isMapped ? 2 : 1));
  const auto freed = own.forget(kGiB);
  EXPECT(freed.has_value());
  shared.reach(5);
  EXPECT(shared.await(6));
  EXPECT(!own.isReleased(*freed));
  shared.reach(7);
  EXPECT(shared.await(8));
  EXPECT(own.isReleased(*freed));
  EXPECT(shared.identities[7] == 0);
  shared.reach(9);
  return kFine;
}

void makeAnewBesideBusyDevice(uint64_t bytes, bool isMapped, bool isOneBlock = false) {
  Pair pair([=](uint32_t rank, const std::shared_ptr<Segment>& segment, Board& shared) -> int {
    return rank == 0 ? freeAndMakeAnew(segment, shared, bytes, isMapped)
                     : mapBesideBusyDevice(segment, shared, isOneBlock);
  });
  CHECK(pair.processes.join(0) == kFine);
  CHECK(pair.processes.join(1) == kFine);
}

}  // namespace

TEST_CASE("what is new is mapped while what was freed can't be unmapped, and the owner frees that only afterwards") {
  makeAnewBesideBusyDevice(kSmall, true);
}

TEST_CASE("where much that was freed is mapped still, what is new waits") { makeAnewBesideBusyDevice(kLarge, false); }

TEST_CASE("what the driver can't map before it has unmapped what was freed waits for that, and isn't refused") {
  makeAnewBesideBusyDevice(kSmall, false, true);
}

TEST_CASE("what no run waits for keeps nothing back that one may wait for") {
  Pair pair([](uint32_t rank, const std::shared_ptr<Segment>& segment, Board& shared) -> int {
    if (rank == 1) {
      FakeView view;
      PeerWindows peers(segment, view.driver());
      EXPECT(shared.await(1));
      EXPECT(peers.take());
      shared.reach(2);
      EXPECT(shared.await(3));
      view.mustWait = true;
      EXPECT(!peers.take());
      // What was closed is there still, and what a run waits for is.
      EXPECT(view.mapped.size() == 2);
      shared.reach(4);
      EXPECT(shared.await(5));
      return kFine;
    }
    FakeMemory memory;
    OwnWindows own(segment, memory.driver());
    memory.allocate(kGiB, kLarge);
    own.mappedWindowOf(kGiB);
    own.exportWanted();
    shared.reach(1);
    EXPECT(shared.await(2));
    memory.free(kGiB);
    memory.allocate(kGiB, kLarge);
    own.mappedWindowOf(kGiB);
    own.exportWanted();
    memory.allocate(4 * kGiB, kSmall);
    own.windowOf(4 * kGiB);
    shared.reach(3);
    EXPECT(shared.await(4));
    EXPECT(own.mappedWindowOf(kGiB) == windows::kUnmapped);
    EXPECT(own.mappedWindowOf(4 * kGiB) != windows::kUnmapped);
    shared.reach(5);
    return kFine;
  });
  CHECK(pair.processes.join(0) == kFine);
  CHECK(pair.processes.join(1) == kFine);
}
