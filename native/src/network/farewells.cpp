#include "network/farewells.hpp"

#include <algorithm>
#include <utility>

#include "network/announcement.hpp"

namespace dfccl {

void Farewells::say() {
  for (const uint32_t rank : links_.peers()) {
    if (std::exchange(farewells_[rank].isSaid, true)) continue;
    links_.sendNote(rank, encode(NoteKind::goodbye, links_.slotsSentTo(rank)));
  }
}

void Farewells::heardGoodbye(uint32_t from, uint64_t slots) {
  farewells_[from].isAsked = true;
  farewells_[from].slotsToCome = slots;
}

void Farewells::answer() {
  for (const uint32_t rank : links_.peers()) {
    Farewell& farewell = farewells_[rank];
    if (!farewell.isAsked || farewell.isGiven || links_.slotsFrom(rank) < farewell.slotsToCome) continue;
    farewell.isGiven = true;
    links_.sendNote(rank, encode(NoteKind::farewell, uint64_t{0}));
  }
}

bool Farewells::areOver() const {
  return std::all_of(links_.peers().begin(), links_.peers().end(), [&](uint32_t rank) {
    const Farewell& farewell = farewells_[rank];
    if (!links_.isUp(rank)) return true;
    return farewell.isSaid && farewell.isAnswered && (!farewell.isAsked || farewell.isGiven);
  });
}

}  // namespace dfccl
