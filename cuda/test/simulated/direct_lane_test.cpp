// How members of a large run meet, and take their buffers back.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "device/captured/direct_lane.cuh"

using namespace dfccl;
using namespace dfccl::gpu;

namespace {

constexpr uint32_t kMembers = 2;

/// Two members of one process, with a lane.
struct Pair {
  Pair() {
    layout = CapturedLayout::of({DataType::float32, size_t{1} << 20, 1, kMembers, false, false, kMostCapturedLanes});
    for (uint32_t m = 0; m < kMembers; ++m) {
      areas.emplace_back(layout.landingBytes(m, kMembers, 0) + alignof(DirectPost));
      const auto at = reinterpret_cast<uintptr_t>(areas[m].data());
      members.landings[m] = areas[m].data() + (alignof(DirectPost) - at % alignof(DirectPost)) % alignof(DirectPost);
      CapturedRun run{};
      run.layout = layout;
      run.member = m;
      run.members = kMembers;
      run.known = known.get();
      run.send = &words[m];
      run.recv = &words[m];
      runs.push_back(run);
    }
  }
  DirectLane lane(uint32_t member, uint32_t number) const { return {runs[member], members, 3, number}; }

  CapturedLayout layout;
  const std::unique_ptr<KnownWindows> known = std::make_unique<KnownWindows>();
  std::vector<std::vector<uint8_t>> areas;
  CapturedMembers members{};
  std::vector<CapturedRun> runs;
  uint64_t words[kMembers]{};
};

DirectLane::Come comeOf(const DirectLane& lane, uint32_t member) {
  DirectBuffers found{};
  return lane.look(member, found);
}

/// One member touches the other's buffer where it may, the other takes it back. @param waits for who had claimed it
/// @return how often it was touched when it was back
int touchedWhenBack(bool waits) {
  int touched = 0;
  for (uint32_t number = 0; number < 3000; ++number) {
    Pair pair;
    const DirectLane mover = pair.lane(0, number), owner = pair.lane(1, number);
    owner.publish(0);
    mover.publish(1);
    std::atomic<bool> isBack{false};
    std::thread moves([&] {
      mover.say(1, DirectLane::claimed, order::seqCst);
      if (mover.isTakenBack(1, order::seqCst)) {
        mover.say(1, DirectLane::takenBack, order::seqCst);
        return;
      }
      for (uint32_t i = 0; i < number % 64; ++i) std::this_thread::yield();
      while (!waits && !isBack) std::this_thread::yield();
      if (isBack) ++touched;
      mover.say(1, DirectLane::over, order::seqCst);
    });
    // Now and then it comes for sure when the other one has claimed.
    while (number % 3 == 0 && !owner.hasSaid(0, DirectLane::claimed, order::seqCst) &&
           !owner.hasSaid(0, DirectLane::over, order::seqCst)) {
      std::this_thread::yield();
    }
    owner.say(0, DirectLane::takenBack, order::seqCst);
    while (waits && owner.hasSaid(0, DirectLane::claimed, order::seqCst)) std::this_thread::yield();
    isBack = true;
    moves.join();
  }
  return touched;
}

}  // namespace

TEST_CASE("a run has no more lanes than it may have blocks, and its tiles hold all of it") {
  for (const uint32_t mostLanes : {1u, 2u, 5u, 8u, kMostCapturedLanes}) {
    for (const uint64_t count :
         {uint64_t{1}, uint64_t{3000}, uint64_t{100'000}, uint64_t{500'000}, uint64_t{9'999'999}}) {
      for (const uint32_t ranks : {2u, 8u, 64u}) {
        INFO(mostLanes, " lanes, ", count, " elements, ", ranks, " ranks");
        const CapturedLayout layout = CapturedLayout::of({DataType::float32, count, 1, ranks, false, false, mostLanes});
        CHECK(layout.lanes <= mostLanes);
        CHECK(layout.lanes * layout.laneElements >= count);
        CHECK(layout.tileElements <= layout.laneElements);
        CHECK(layout.tileElements * sizeof(float) <= kCapturedTileBytes);
        CHECK(layout.slotBytes >= 2 * layout.tileElements * sizeof(float));
        // A signature's memory is bounded, where lines are only for what is out of reach.
        if (layout.isLarge) CHECK(layout.landingBytes(0, ranks, 0) <= size_t{2} << 20);
      }
    }
  }
}

TEST_CASE("members find each other's buffers when both have published, of this run and of no other") {
  for (const uint32_t number : {0u, 1u, 2u, 65535u, 65536u, 0x7fffffffu}) {
    INFO(number);
    const Pair pair;
    for (uint32_t before = number < 2 ? 0 : number - 2; before < number; ++before) {
      pair.lane(0, before).publish(1);
      pair.lane(1, before).publish(0);
    }
    const DirectLane one = pair.lane(0, number), other = pair.lane(1, number);
    CHECK(comeOf(one, 0) == DirectLane::Come::here);
    CHECK(comeOf(one, 1) == DirectLane::Come::notYet);
    other.publish(0);
    DirectBuffers found{};
    CHECK(one.look(1, found) == DirectLane::Come::here);
    CHECK(found.send == reinterpret_cast<uint64_t>(&pair.words[1]));
    CHECK(comeOf(other, 0) == DirectLane::Come::notYet);
    // Somebody may be a run ahead, and is found by who is behind.
    pair.lane(1, number + 1).publish(0);
    CHECK(comeOf(one, 1) == DirectLane::Come::here);
    CHECK_FALSE(one.hasSaid(1, DirectLane::over, order::acquire));
    other.say(0, DirectLane::over, order::release);
    CHECK(one.hasSaid(1, DirectLane::over, order::acquire));
    CHECK_FALSE(pair.lane(0, number + 2).hasSaid(1, DirectLane::over, order::acquire));
  }
}

TEST_CASE("a buffer that one process doesn't reach is out of reach for all") {
  Pair pair;
  pair.runs[1].recvWindow = windows::kUnmapped;
  const DirectLane one = pair.lane(0, 5), other = pair.lane(1, 5);
  one.publish(1);
  other.publish(0);
  CHECK(comeOf(one, 1) == DirectLane::Come::outOfReach);
  CHECK(comeOf(one, 0) == DirectLane::Come::here);
  CHECK(comeOf(other, 1) == DirectLane::Come::outOfReach);
}

TEST_CASE("buffers of another process are where it is seen, once it is") {
  Pair pair;
  std::vector<Atomic<uint64_t>> table(windows::kCount);
  pair.members.windows[1] = table.data();
  pair.runs[1].sendWindow = pair.runs[1].recvWindow = 7;
  const DirectLane one = pair.lane(0, 5);
  pair.lane(1, 5).publish(0);
  CHECK(comeOf(one, 1) == DirectLane::Come::notYet);
  const auto address = reinterpret_cast<uint64_t>(&pair.words[1]);
  table[7].store(windows::baseOf(address, address + 4096), order::relaxed);
  DirectBuffers found{};
  CHECK(one.look(1, found) == DirectLane::Come::here);
  CHECK(found.recv == address + 4096);
}

TEST_CASE("where a window is seen is looked up once, and anew where numbers have come again") {
  Pair pair;
  std::vector<Atomic<uint64_t>> table(windows::kCount);
  pair.members.windows[1] = table.data();
  const auto address = reinterpret_cast<uint64_t>(&pair.words[1]);
  uint32_t number = 0;
  const auto found = [&](uint16_t window, uint32_t renewals) {
    pair.runs[1].sendWindow = pair.runs[1].recvWindow = window;
    pair.runs[1].renewals = renewals;
    pair.lane(1, ++number).publish(0);
    DirectBuffers buffers{};
    return pair.lane(0, number).look(1, buffers) == DirectLane::Come::here ? buffers.send - address : 1;
  };
  const auto see = [&](uint16_t window, uint64_t offset) {
    table[window].store(offset == 0 ? 0 : windows::baseOf(address, address + offset), order::relaxed);
  };
  CHECK(found(7, 0) == 1);
  see(7, 4096);
  CHECK(found(7, 0) == 4096);
  see(7, 0);
  CHECK(found(7, 0) == 4096);
  see(8, 8192);
  CHECK(found(8, 0) == 8192);
  CHECK(found(7, 0) == 4096);
  // The number is another memory's.
  see(8, 0);
  CHECK(found(8, 1) == 1);
  see(8, 12288);
  CHECK(found(8, 1) == 12288);
  CHECK(found(8, 2) == 12288);
}

TEST_CASE("windows that share a place are each where they are, and so are those of two processes") {
  const auto known = std::make_unique<KnownWindows>();
  std::vector<Atomic<uint64_t>> tables[2]{std::vector<Atomic<uint64_t>>(windows::kCount),
                                          std::vector<Atomic<uint64_t>>(windows::kCount)};
  const auto nameOf = [](uint64_t window) { return window << windows::kPageShift; };
  for (uint64_t p = 0; p < 2; ++p) {
    for (uint64_t w = 1; w < windows::kCount; ++w) tables[p][w].store((w << 1 | p) << 21, order::relaxed);
  }
  uint64_t wrong = 0;
  for (int turn = 0; turn < 2; ++turn) {
    for (uint64_t w = 1; w < windows::kCount; ++w) {
      for (uint64_t p = 0; p < 2; ++p) {
        wrong += known->baseSeen(tables[p].data(), nameOf(w), 0) != (w << 1 | p) << 21;
        wrong += known->baseSeen(tables[p].data(), nameOf(1), 0) != (2 | p) << 21;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("of two writers' halves nobody makes a window") {
  std::vector<Atomic<uint64_t>> table(windows::kCount);
  const auto nameOf = [](uint64_t window) { return window << windows::kPageShift; };
  for (const uint64_t window : {uint64_t{3}, uint64_t{3} + KnownWindows::kPlaces})
    table[window].store(window << 21, order::relaxed);
  const auto one = std::make_unique<KnownWindows>(), other = std::make_unique<KnownWindows>();
  CHECK(one->baseSeen(table.data(), nameOf(3), 0) == uint64_t{3} << 21);
  CHECK(other->baseSeen(table.data(), nameOf(3 + KnownWindows::kPlaces), 0) == uint64_t{3 + KnownWindows::kPlaces}
                                                                                   << 21);
  int mixed = 0;
  for (uint32_t place = 0; place < KnownWindows::kPlaces; ++place) {
    const uint64_t base = other->places[place].base.load(order::relaxed);
    if (base == 0) continue;
    one->places[place].base.store(base, order::relaxed);
    ++mixed;
  }
  CHECK(mixed == 1);
  CHECK(one->baseSeen(table.data(), nameOf(3), 0) == uint64_t{3} << 21);
}

TEST_CASE("who has ended a run and gone on has taken its buffers back") {
  for (const uint32_t number : {0u, 7u, 0x7ffffffdu}) {
    INFO(number);
    const Pair pair;
    const DirectLane mover = pair.lane(0, number);
    CHECK_FALSE(mover.isTakenBack(1, order::seqCst));
    pair.lane(1, number).say(0, DirectLane::claimed, order::seqCst);
    CHECK_FALSE(mover.isTakenBack(1, order::seqCst));
    pair.lane(1, number).say(0, DirectLane::takenBack, order::seqCst);
    CHECK(mover.isTakenBack(1, order::seqCst));
    // Two runs later the same words are used again.
    const uint32_t later = (number + 2) % 0x80000000u;
    CHECK_FALSE(pair.lane(0, later).isTakenBack(1, order::seqCst));
    pair.lane(1, later).say(0, DirectLane::takenBack, order::seqCst);
    CHECK(mover.isTakenBack(1, order::seqCst));
  }
}

TEST_CASE("nobody touches a buffer that was taken back; who doesn't wait for that sees it touched") {
  CHECK(touchedWhenBack(true) == 0);
  CHECK(touchedWhenBack(false) > 0);
}
