#include <doctest/doctest.h>

#include "queues/leader_broadcast.hpp"
#include "shared_memory.hpp"

using namespace dfccl;
using dfccl::test::SharedMemory;

namespace {

struct Entry {
  uint64_t value;
  uint32_t kind;
};

constexpr uint64_t kFirstPositions[] = {0, (1ull << 32) - 3, ~uint64_t{0} - 2};

}  // namespace

TEST_CASE("every block reads every entry in order while the counters wrap") {
  for (const uint64_t first : kFirstPositions) {
    CAPTURE(first);
    using Ring = LeaderBroadcast<Entry>;
    SharedMemory memory(Ring::bytes(4, 3));
    BroadcastLeader<Entry> leader(Ring::create(memory, 4, 3, first));
    const Ring ring = Ring::attach(memory);
    BroadcastReader<Entry> readers[] = {{ring, 0}, {ring, 1}, {ring, 2}};
    Entry entry{};
    for (auto& reader : readers) CHECK_FALSE(reader.take(entry));
    uint64_t sent = 0;
    for (uint64_t received = 0; received < 20; ++received) {
      while (sent < 20 && leader.tryPublish({sent * 3, static_cast<uint32_t>(sent)})) ++sent;
      CHECK(sent == (received + 4 < 20 ? received + 4 : 20));
      for (auto& reader : readers) {
        REQUIRE(reader.take(entry));
        CHECK(entry.value == received * 3);
        CHECK(entry.kind == received);
        CHECK(reader.position() == first + received + 1);
      }
    }
    for (auto& reader : readers) CHECK_FALSE(reader.take(entry));
  }
}

TEST_CASE("the slowest block alone decides whether there is room") {
  using Ring = LeaderBroadcast<uint64_t>;
  SharedMemory memory(Ring::bytes(2, 2));
  const Ring ring = Ring::create(memory, 2, 2);
  BroadcastLeader<uint64_t> leader(ring);
  BroadcastReader<uint64_t> fast(ring, 0);
  BroadcastReader<uint64_t> slow(ring, 1);
  CHECK(leader.tryPublish(1));
  CHECK(leader.tryPublish(2));
  CHECK_FALSE(leader.hasRoom());
  uint64_t entry = 0;
  CHECK(fast.take(entry));
  CHECK(fast.take(entry));
  CHECK_FALSE(leader.tryPublish(3));
  CHECK(slow.peek(entry));
  CHECK(entry == 1);
  CHECK_FALSE(leader.hasRoom());
  slow.pop();
  CHECK(leader.hasRoom());
  CHECK(leader.tryPublish(3));
  CHECK_FALSE(leader.tryPublish(4));
}

TEST_CASE("leader and blocks go on where their predecessors stopped") {
  using Ring = LeaderBroadcast<uint64_t>;
  SharedMemory memory(Ring::bytes(4, 1));
  const Ring ring = Ring::create(memory, 4, 1);
  uint64_t entry = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    CHECK(BroadcastLeader<uint64_t>(ring).tryPublish(i));
    CHECK(BroadcastReader<uint64_t>(ring, 0).take(entry));
    CHECK(entry == i);
  }
}
