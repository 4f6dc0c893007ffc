// When a message's sender may put a tile where its receiver takes it out.
#include <doctest/doctest.h>

#include <vector>

#include "device/captured/message_room.cuh"

using namespace dfccl;
using namespace dfccl::gpu;

namespace {

constexpr uint32_t kSender = 0, kReceiver = 1, kLane = 2;
constexpr uint32_t kLastNumber = 0x7fffffff;

struct Message {
  explicit Message(uint64_t count) {
    const auto layout = CapturedLayout::of({DataType::int8, count, 1, 2, false, true, kMostCapturedLanes});
    for (const uint32_t m : {kSender, kReceiver}) {
      areas.emplace_back(layout.landingBytes(m, 2, kSender) + kAlignment);
      uint8_t* const area = areas.back().data();
      members.landings[m] = area + (kAlignment - reinterpret_cast<uintptr_t>(area) % kAlignment) % kAlignment;
      runs[m].layout = layout;
      runs[m].member = m;
      runs[m].members = 2;
      runs[m].root = kSender;
      runs[m].type = DataType::int8;
      runs[m].count = count;
    }
  }
  void take(uint32_t number, uint32_t tile) const {
    MessageRoom(runs[kReceiver], members, kLane, number).sayTaken(tile, order::relaxed);
  }
  bool isFree(uint32_t number, uint32_t tile) const {
    return MessageRoom(runs[kSender], members, kLane, number).isFreeFor(tile, order::relaxed);
  }

  static constexpr size_t kAlignment = 128;
  std::vector<std::vector<uint8_t>> areas;
  CapturedMembers members{};
  CapturedRun runs[2]{};
};

}  // namespace

TEST_CASE("a small message's sender is at most two runs ahead, from the first one on") {
  const Message message(size_t{256} << 10);
  CHECK(!message.runs[kSender].layout.isLarge);
  CHECK(message.runs[kSender].tilesOf(kLane) == 1);
  CHECK(message.isFree(0, 0));
  CHECK(message.isFree(1, 0));
  CHECK(!message.isFree(2, 0));
  message.take(0, 0);
  CHECK(message.isFree(2, 0));
  CHECK(!message.isFree(3, 0));
  message.take(1, 0);
  CHECK(message.isFree(3, 0));
}

TEST_CASE("it goes on so where a lane's numbers begin anew") {
  const Message message(1000);
  const auto after = [](uint32_t number, uint32_t runs) { return (number + runs) & kLastNumber; };
  for (uint32_t taken = kLastNumber - 4, i = 0; i < 8; ++i, taken = after(taken, 1)) {
    message.take(taken, 0);
    CHECK(message.isFree(after(taken, 1), 0));
    CHECK(message.isFree(after(taken, 2), 0));
    CHECK(!message.isFree(after(taken, 3), 0));
  }
}

TEST_CASE("a large message's sender is at most two tiles ahead, whatever way the runs before have gone") {
  const Message message(size_t{32} << 20);
  REQUIRE(message.runs[kSender].layout.isLarge);
  REQUIRE(message.runs[kSender].tilesOf(kLane) > 4);
  for (const uint32_t number : {0u, 7u, kLastNumber, 3u}) {
    CHECK(message.isFree(number, 0));
    CHECK(message.isFree(number, 1));
    CHECK(!message.isFree(number, 2));
    message.take(number, 0);
    CHECK(message.isFree(number, 2));
    CHECK(!message.isFree(number, 3));
    message.take(number, 1);
    CHECK(message.isFree(number, 3));
    CHECK(!message.isFree(number, 4));
  }
}

TEST_CASE("only who receives a message needs memory for it, and not much of that") {
  for (const uint64_t bytes :
       {uint64_t{1}, uint64_t{5000}, uint64_t{256} << 10, uint64_t{1} << 20, uint64_t{1} << 30}) {
    for (const uint32_t mostLanes : {1u, 3u, kMostCapturedLanes}) {
      INFO(bytes, " bytes, ", mostLanes, " lanes");
      const auto layout = CapturedLayout::of({DataType::int8, bytes, 1, 2, false, true, mostLanes});
      CHECK(layout.landingBytes(kReceiver, 2, kSender) <= size_t{1} << 20);
      CHECK(layout.landingBytes(kSender, 2, kSender) <= 8192);
    }
  }
}
