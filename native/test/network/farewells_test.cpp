#include "network/farewells.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "network/announcement.hpp"
#include "network/support/fake_transport.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// One of two processes that part.
class Parting final : private Links::Receiver {
 public:
  Parting(uint32_t rank, const Digest& key) : side(rank, key, *this), farewells(*side.links) {}

  /// A message has come, and the next look at goodbyes follows it.
  void receive(const FakeTransport::Message& message, Parting& from) {
    from.side.transport->deliver(message, *side.transport);
    farewells.answer();
  }
  bool hasSent() const { return !side.transport->sent.empty(); }
  std::vector<FakeTransport::Message> takeSent() { return std::exchange(side.transport->sent, {}); }

  Side side;
  Farewells farewells;
  size_t slots = 0;

 private:
  void receivedSlots(uint32_t, EndName, SlotRange, std::span<const uint8_t>) override { ++slots; }
  void receivedCredit(uint32_t, EndName, uint64_t) override {}
  void receivedNote(uint32_t from, std::span<const uint8_t> bytes) override {
    const std::optional<Note> note = decodeNote(bytes, from);
    REQUIRE(note);
    if (note->kind == NoteKind::goodbye) farewells.heardGoodbye(from, note->value);
    if (note->kind == NoteKind::farewell) farewells.heardAnswer(from);
  }
  void sentSlots(EndName, SlotRange) override {}
  void lostLink(uint32_t, Presence) override {}
};

}  // namespace

TEST_CASE("a goodbye is answered once every slot sent before it has come, however many of them it overtook") {
  constexpr size_t kSlots = 4;
  const Digest key = randomDigest();
  for (size_t overtaken = 0; overtaken <= kSlots; ++overtaken) {
    CAPTURE(overtaken);
    Parting leaver(0, key), stayer(1, key);
    for (uint64_t i = 0; i < kSlots; ++i) leaver.side.links->sendSlots(1, {0, 1}, {i}, {}, {0, 1});
    leaver.farewells.say();
    std::vector<FakeTransport::Message> messages = leaver.takeSent();
    REQUIRE(messages.size() == kSlots + 1);
    std::rotate(messages.end() - 1 - static_cast<ptrdiff_t>(overtaken), messages.end() - 1, messages.end());
    for (const auto& message : messages) {
      CHECK_FALSE(stayer.hasSent());
      stayer.receive(message, leaver);
    }
    CHECK(stayer.slots == kSlots);
    stayer.farewells.answer();  // a second time, which says nothing
    const std::vector<FakeTransport::Message> answers = stayer.takeSent();
    REQUIRE(answers.size() == 1);
    CHECK_FALSE(leaver.farewells.areOver());
    leaver.receive(answers.front(), stayer);
    CHECK(leaver.farewells.areOver());
  }
}

TEST_CASE("who leaves also waits until the other's goodbye is answered, and for nobody whose link is lost") {
  const Digest key = randomDigest();
  Parting a(0, key), b(1, key);
  b.side.links->sendSlots(0, {0, 1}, {0}, {}, {0, 1});
  a.farewells.say();
  b.farewells.say();
  const std::vector<FakeTransport::Message> fromB = b.takeSent();  // a slot, then a goodbye
  REQUIRE(fromB.size() == 2);
  for (const auto& message : a.takeSent()) b.receive(message, a);
  for (const auto& message : b.takeSent())
    a.receive(message, b);  // the answer overtakes nothing: notes keep their order
  CHECK_FALSE(a.farewells.areOver());
  a.receive(fromB[1], b);
  CHECK_FALSE(a.farewells.areOver());
  SUBCASE("the slot comes") {
    a.receive(fromB[0], b);
    CHECK(a.farewells.areOver());
  }
  SUBCASE("the link is lost") {
    a.side.transport->lose(1);
    CHECK(a.farewells.areOver());
  }
}
