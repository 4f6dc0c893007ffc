#include "processes/peer_windows.hpp"

#include <utility>

#include "base/error.hpp"
#include "daemon/state/windows.hpp"

namespace dfccl {

PeerWindows::PeerWindows(std::shared_ptr<Segment> segment, ImportingDriver driver)
    : segment_(std::move(segment)), driver_(std::move(driver)), owners_(segment_->ranks()) {}

bool PeerWindows::take() {
  bool isAll = true;
  for (uint32_t rank = 0; rank < owners_.size(); ++rank) {
    if (rank == segment_->rank()) continue;
    auto* const notes = reinterpret_cast<WindowNotes*>(segment_->area(rank).windowNotes.load(order::acquire));
    if (notes == nullptr) continue;
    Owner& owner = owners_[rank];
    for (const uint64_t tail = notes->tail.load(order::acquire); owner.taken != tail;) {
      const uint64_t place = owner.taken % WindowNotes::kCapacity;
      const Taken taken = take(rank, notes->notes[place]);
      // Those behind it wait too: the owner counts how far this rank is.
      if (taken == Taken::later) {
        isAll = false;
        break;
      }
      if (taken == Taken::refused) notes->isRefused[place].store(1, order::relaxed);
      // From here on the owner may use the note's place again, and of a closed window its number.
      notes->taken[segment_->rank()].store(++owner.taken, order::release);
    }
  }
  return isAll;
}

PeerWindows::Taken PeerWindows::take(uint32_t rank, const WindowNote& note) {
  Owner& owner = owners_[rank];
  if (note.kind == WindowNote::closed) {
    const auto found = owner.mapped.find(note.window);
    if (found == owner.mapped.end()) return Taken::yes;
    Mapped& mapped = found->second;
    if (!std::exchange(mapped.isClosed, true)) {
      driver_.setBases(rank, note.window, std::vector<uint64_t>(mapped.pieces));
    }
    if (!driver_.unmap(rank, mapped.seenAt, false)) return Taken::later;
    owner.mapped.erase(found);
    return Taken::yes;
  }
  try {
    const uint64_t seenAt = driver_.map(rank, note);
    std::vector<uint64_t> bases;
    uint64_t address = note.first;
    const uint64_t end = note.first + note.bytes;
    while (address < end) {
      bases.push_back(windows::baseOf(address, seenAt + (address - note.first)));
      address = (address & ~windows::kOffsetMask) + windows::kOffsetMask + 1;
    }
    owner.mapped[note.window] = {seenAt, bases.size()};
    if (owner.firstSeen.first == 0) owner.firstSeen = {note.first, seenAt};
    driver_.setBases(rank, note.window, bases);
  } catch (const Error& error) {
    if (note.isOptional != 0) return Taken::refused;
    if (owner.failure.empty()) owner.failure = error.what();
  }
  return Taken::yes;
}

void PeerWindows::close() {
  for (uint32_t rank = 0; rank < owners_.size(); ++rank) {
    for (const auto& [window, mapped] : owners_[rank].mapped) driver_.unmap(rank, mapped.seenAt, true);
    owners_[rank].mapped.clear();
  }
}

}  // namespace dfccl
