#include "processes/peer_windows.hpp"

#include <string>

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
    unmapClosed(rank, *notes);  // what is new may wait for it
    for (const uint64_t tail = notes->tail.load(order::acquire); owner.taken != tail;) {
      const uint64_t place = owner.taken % WindowNotes::kCapacity;
      Taken taken = take(rank, *notes, notes->notes[place]);
      // Those behind it would wait too, as the owner counts how far this rank is: and a run for one of them, which
      // keeps the device from being idle.
      if (taken == Taken::later && isAnyAwaited(*notes, owner.taken, tail)) taken = Taken::refused;
      if (taken == Taken::later) {
        isAll = false;
        break;
      }
      if (taken == Taken::refused) notes->isRefused[place].store(1, order::relaxed);
      // From here on the owner may use the note's place again.
      notes->taken[segment_->rank()].store(++owner.taken, order::release);
    }
    isAll &= unmapClosed(rank, *notes);
  }
  return isAll;
}

PeerWindows::Taken PeerWindows::take(uint32_t rank, WindowNotes& notes, const WindowNote& note) {
  if (note.kind == WindowNote::opened) return map(rank, notes, note);
  Owner& owner = owners_[rank];
  const auto found = owner.mapped.find(note.window);
  if (found == owner.mapped.end()) return Taken::yes;
  driver_.setBases(rank, note.window, std::vector<uint64_t>(found->second.pieces));
  owner.closed.push_back({owner.taken, found->second.seenAt, note.bytes});
  owner.mapped.erase(found);
  return Taken::yes;
}

PeerWindows::Taken PeerWindows::map(uint32_t rank, WindowNotes& notes, const WindowNote& note) {
  if (note.isOptional != 0 && isTooMuchClosed()) return Taken::later;
  Owner& owner = owners_[rank];
  try {
    std::optional<uint64_t> place = driver_.map(rank, note);
    // What has to be unmapped may have been closed just now.
    if (!place && !owner.closed.empty()) {
      unmapClosed(rank, notes);
      place = driver_.map(rank, note);
      if (!place && !owner.closed.empty()) return Taken::later;
    }
    if (!place) {
      throw Error(dfcclSystemError, "Memory of rank " + std::to_string(rank) + " is in a block that is mapped already.",
                  "Allocate it as a block of its own, of 2 MB or more.", {{"rank", std::to_string(rank)}});
    }
    const uint64_t seenAt = *place;
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

bool PeerWindows::unmapClosed(uint32_t rank, WindowNotes& notes) {
  Owner& owner = owners_[rank];
  while (!owner.closed.empty() && driver_.unmap(rank, owner.closed.front().seenAt, false)) owner.closed.pop_front();
  // From here on the owner may use the numbers of closed windows again, and free what it has kept for them.
  const uint64_t released = owner.closed.empty() ? owner.taken : owner.closed.front().position;
  notes.released[segment_->rank()].store(released, order::release);
  return owner.closed.empty();
}

bool PeerWindows::isTooMuchClosed() const {
  constexpr uint64_t kMostBytes = uint64_t{512} << 20;
  constexpr size_t kMost = 64;  // each may keep a block of the driver's, and has a number
  uint64_t bytes = 0;
  size_t count = 0;
  for (const Owner& owner : owners_) {
    for (const Closed& each : owner.closed) bytes += each.bytes;
    count += owner.closed.size();
  }
  return bytes > kMostBytes || count > kMost;
}

bool PeerWindows::isAnyAwaited(const WindowNotes& notes, uint64_t taken, uint64_t tail) {
  for (uint64_t position = taken; position != tail; ++position) {
    const WindowNote& note = notes.notes[position % WindowNotes::kCapacity];
    if (note.kind == WindowNote::opened && note.isOptional == 0) return position != taken;
  }
  return false;
}

void PeerWindows::close() {
  for (uint32_t rank = 0; rank < owners_.size(); ++rank) {
    for (const auto& [window, mapped] : owners_[rank].mapped) driver_.unmap(rank, mapped.seenAt, true);
    for (const Closed& each : owners_[rank].closed) driver_.unmap(rank, each.seenAt, true);
    owners_[rank].mapped.clear();
    owners_[rank].closed.clear();
  }
}

}  // namespace dfccl
