#include "network/links.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "daemon/support/programs.hpp"
#include "network/remote_end.hpp"
#include "network/support/fake_transport.hpp"
#include "processes/peer_watch.hpp"
#include "program/program_loader.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

struct Heard final : Links::Receiver {
  void receivedSlots(uint32_t, EndName end, SlotRange range, std::span<const uint8_t> payload) override {
    slots.push_back({end.number, range.first, payload.size()});
  }
  void receivedCredit(uint32_t, EndName end, uint64_t freed) override { credits.push_back({end.number, freed}); }
  void receivedNote(uint32_t, std::span<const uint8_t> note) override { notes.push_back(note[0]); }
  void sentSlots(EndName own, SlotRange range) override { sent.push_back({own.number, range.first}); }
  void lostLink(uint32_t rank, Presence presence) override { lost.push_back({rank, presence}); }

  std::vector<std::tuple<uint32_t, uint64_t, size_t>> slots;
  std::vector<std::pair<uint32_t, uint64_t>> credits, sent;
  std::vector<uint8_t> notes;
  std::vector<std::pair<uint32_t, Presence>> lost;
};

/// A side whose receiver notes what it is told.
struct HearingSide : Side {
  explicit HearingSide(uint32_t rank, const Digest& key, uint32_t muteMillis = 1000)
      : Side(rank, key, heard, muteMillis) {}
  Heard heard;
};

}  // namespace

TEST_CASE(
    "notes arrive in the order in which they were sent, whatever becomes of the messages; control: messages don't") {
  const Digest key = randomDigest();
  HearingSide a(0, key), b(1, key);
  std::vector<uint8_t> expected;
  for (uint8_t i = 0; i < 100; ++i) {
    a.links->sendNote(1, {i});
    expected.push_back(i);
  }
  const auto seed = static_cast<unsigned>(std::random_device{}());
  CAPTURE(seed);
  std::shuffle(a.transport->sent.begin(), a.transport->sent.end(), std::mt19937(seed));
  std::vector<uint8_t> asSent;
  for (const auto& message : a.transport->sent) asSent.push_back(message.payload[0]);
  a.transport->deliverTo(*b.transport);
  CHECK(b.heard.notes == expected);
  CHECK(asSent != expected);
}

TEST_CASE("a note that comes behind as many as are kept is heard; control: one more, and the link is lost") {
  constexpr uint32_t kMostKept = 1 << 16;
  const Digest key = randomDigest();
  for (const uint32_t kept : {kMostKept, kMostKept + 1}) {
    CAPTURE(kept);
    HearingSide a(0, key), b(1, key);
    for (uint32_t i = 0; i <= kept; ++i) a.links->sendNote(1, {static_cast<uint8_t>(i)});
    const auto first = a.transport->sent.begin();
    std::rotate(first, first + 1, a.transport->sent.end());
    a.transport->deliverTo(*b.transport);
    if (kept == kMostKept) {
      CHECK(b.heard.notes.size() == kept + 1);
      CHECK(b.heard.lost.empty());
    } else {
      CHECK(b.heard.lost == std::vector<std::pair<uint32_t, Presence>>{{0, Presence::died}});
    }
  }
}

TEST_CASE(
    "a message of who doesn't know the world's key, or sent back to its sender, is none; control: a rank's is one") {
  const Digest key = randomDigest();
  HearingSide a(0, key), b(1, key), stranger(0, randomDigest());
  stranger.links->sendNote(1, {7});
  stranger.links->sendSlots(1, {0, 1}, {0}, {}, {0, 1});
  stranger.transport->deliverTo(*b.transport);
  b.links->sendNote(0, {8});
  b.transport->deliverTo(*b.transport);
  CHECK(b.heard.notes.empty());
  CHECK(b.heard.slots.empty());
  a.links->sendNote(1, {9});
  a.transport->deliverTo(*b.transport);
  CHECK(b.heard.notes == std::vector<uint8_t>{9});
}

TEST_CASE("who says nothing for longer than the limit is mute, unless it is we who were stopped") {
  const Digest key = randomDigest();
  HearingSide a(0, key, 1000);
  const uint64_t now = nowMillis();
  a.links->judge(now + 900, true);
  CHECK(a.heard.lost.empty());
  a.links->judge(now + 5000, false);
  CHECK(a.heard.lost.empty());
  a.links->judge(now + 5900, true);
  CHECK(a.heard.lost.empty());
  a.links->judge(now + 6100, true);
  CHECK(a.heard.lost == std::vector<std::pair<uint32_t, Presence>>{{1, Presence::mute}});
  CHECK_FALSE(a.links->isUp(1));
}

TEST_CASE("a broken connection is a rank that died, and is told once") {
  const Digest key = randomDigest();
  HearingSide a(0, key);
  a.transport->lose(1);
  a.transport->lose(1);
  CHECK(a.heard.lost == std::vector<std::pair<uint32_t, Presence>>{{1, Presence::died}});
}

TEST_CASE("what a slow link holds back stays bounded: one message of credits and one beat at a time") {
  const Digest key = randomDigest();
  HearingSide a(0, key), b(1, key);
  const uint64_t now = nowMillis();
  for (uint64_t i = 1; i <= 1000; ++i) {
    a.links->sendCredit(1, {3, 1}, i);
    a.links->flush(now + 2000 * i);
  }
  CHECK(a.transport->sent.size() <= 2);
  a.transport->deliverTo(*b.transport);
  a.links->flush(now);
  a.transport->deliverTo(*b.transport);
  REQUIRE(b.heard.credits.size() == 1000);
  CHECK(b.heard.credits.back() == std::pair<uint32_t, uint64_t>{3, 1000});
}

namespace {

/// An end of a connection with four slots in memory of its own, of a program without steps: all of a slot travels.
struct FourSlots {
  static constexpr uint32_t kSlots = 4, kBytes = 128;

  explicit FourSlots(bool isSend)
      : memory(kSlots * kBytes),
        end{nullptr,
            {&counters, memory.data(), kSlots, kBytes, &counters},
            Protocol::simple,
            isSend,
            1,
            0,
            SlotBytes(program(), 0),
            {},
            {},
            true,
            0,
            0,
            0,
            DonePositions(kSlots)} {}

  static const BoundProgram& program() {
    static const ConnectionRecord connection{0, 0, 0, 0};
    static const BlockRecord block{0, 0, {}};
    static const BoundProgram made = [] {
      BoundProgram empty{};
      empty.connections = {&connection, 1};
      empty.blocks = {&block, 1};
      return empty;
    }();
    return made;
  }
  uint64_t tail() const { return counters.tail.load(order::relaxed); }

  std::vector<uint8_t> memory;
  ConnectorMemory counters{};
  RemoteEnd end;
};

}  // namespace

TEST_CASE("slots that come in any order are published in theirs, and none where there is no room for it") {
  FourSlots receiver(false);
  RemoteEnd& end = receiver.end;
  const std::vector<uint8_t> payload(FourSlots::kBytes, 42);
  CHECK(end.put({2}, payload));
  CHECK(end.put({1}, payload));
  CHECK(receiver.tail() == 0);
  CHECK(end.put({0}, payload));
  CHECK(receiver.tail() == 3);
  CHECK_FALSE(end.put({1}, payload));                                      // again
  CHECK_FALSE(end.put({4}, payload));                                      // its place is still another's
  CHECK_FALSE(end.put({3}, std::vector<uint8_t>(FourSlots::kBytes + 1)));  // more than a slot holds
  CHECK_FALSE(end.put({uint64_t{1} << 63}, payload));                      // nonsense
  receiver.counters.head.store(1, order::relaxed);
  CHECK(end.put({4}, payload));
  CHECK(end.put({3}, payload));
  CHECK(receiver.tail() == 5);
  CHECK(receiver.memory[0] == 42);
}

TEST_CASE("full slots that lie behind one another go in one message, up to where the memory ends") {
  FourSlots sender(true), receiver(false);
  for (size_t i = 0; i < sender.memory.size(); ++i) sender.memory[i] = static_cast<uint8_t>(i / FourSlots::kBytes + 1);
  const auto rangeTo = [&](uint64_t tail) {
    const SlotRange range = sender.end.nextRange(tail);
    return std::pair{range.first, range.count};
  };
  CHECK(rangeTo(3) == std::pair<uint64_t, uint32_t>{0, 3});
  CHECK(receiver.end.put({0, 3}, sender.end.payloadOf({0, 3})));
  CHECK(receiver.tail() == 3);
  CHECK(std::equal(receiver.memory.begin(), receiver.memory.begin() + 3 * FourSlots::kBytes, sender.memory.begin()));
  sender.end.moved = 3;
  CHECK(rangeTo(6) == std::pair<uint64_t, uint32_t>{3, 1});
  sender.end.moved = 4;
  CHECK(rangeTo(6) == std::pair<uint64_t, uint32_t>{4, 2});
  // What is none, and what doesn't fit its number of slots.
  const std::vector<uint8_t> payload(3 * FourSlots::kBytes);
  CHECK_FALSE(receiver.end.put({3, 0}, payload));
  CHECK_FALSE(receiver.end.put({3, 5}, payload));
  CHECK_FALSE(receiver.end.put({3, 2}, payload));
  CHECK_FALSE(receiver.end.put({3, 4}, std::vector<uint8_t>(2 * FourSlots::kBytes)));
  CHECK(receiver.tail() == 3);
  // Those that there is no room for are left out.
  CHECK(receiver.end.put({3, 3}, payload));
  CHECK(receiver.tail() == 4);
}

TEST_CASE("of a slot travels what the program puts in, of LL once in 2^30 positions all of it") {
  CHECK(fillsSlot(Protocol::ll, uint64_t{1} << 30, 2));
  CHECK_FALSE(fillsSlot(Protocol::ll128, uint64_t{1} << 30, 2));
  const TileSizes tiles{4096, 4096};
  for (const Protocol protocol : everyProtocol()) {
    CAPTURE(static_cast<int>(protocol));
    const auto program = loadProgram(ringAllReduce(protocol, 2)(0), DataType::float32, 200, tiles);
    const Connector connector{nullptr, nullptr, 2, 8192, nullptr};
    const SlotBytes bytes(*program, 0);
    const size_t chunk = wireBytes(protocol, 400);
    constexpr uint64_t kRound = uint64_t{1} << 30;
    for (const uint64_t position : {uint64_t{0}, uint64_t{1}, kRound - 1, kRound + 2}) {
      CHECK(bytes.at(position, connector) == chunk);
    }
    for (const uint64_t position : {kRound, kRound + 1, 3 * kRound}) {
      CHECK(bytes.at(position, connector) == (fillsSlot(protocol, kRound, 2) ? connector.slotBytes : chunk));
    }
  }
}
