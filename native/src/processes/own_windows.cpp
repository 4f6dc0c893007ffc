#include "processes/own_windows.hpp"

#include <cstring>
#include <new>
#include <string>

#include "dfccl/daemon/windows.hpp"
#include "error.hpp"
#include "processes/peer_watch.hpp"

namespace dfccl {
namespace {

uint32_t piecesOf(uint64_t first, uint64_t bytes) {
  return static_cast<uint32_t>(((first + bytes - 1) >> windows::kPageShift) - (first >> windows::kPageShift) + 1);
}

uint16_t windowAt(uint64_t first, uint16_t window, uint64_t address) {
  return static_cast<uint16_t>(window + (address >> windows::kPageShift) - (first >> windows::kPageShift));
}

}  // namespace

OwnWindows::OwnWindows(std::shared_ptr<Segment> segment, ExportingDriver driver)
    : segment_(std::move(segment)), driver_(std::move(driver)) {
  notes_ = new (segment_->allocateBuffer(sizeof(WindowNotes))) WindowNotes{};
  segment_->area(segment_->rank()).windowNotes.store(reinterpret_cast<uint64_t>(notes_), order::release);
}

uint16_t OwnWindows::windowOf(uint64_t address) {
  const std::lock_guard lock(mutex_);
  auto found = opened_.upper_bound(address);
  if (found != opened_.begin()) {
    --found;
    const auto& [first, opened] = *found;
    const bool isIn = address - first < opened.bytes;
    if (isIn && (opened.isKept || driver_.identityAt(address) == opened.identity)) {
      return windowAt(first, opened.window, address);
    }
  }
  return open(address);
}

uint16_t OwnWindows::open(uint64_t address) {
  const OwnMemory memory = driver_.memoryAt(address);
  if (memory.bytes == 0) {
    throw Error(dfcclInvalidArgument, "The driver knows of no memory at an address that a run was to use.",
                "Pass memory that is allocated, and keep it until the run is over.");
  }
  WindowNote note{};
  note.kind = WindowNote::opened;
  note.first = memory.first;
  note.bytes = memory.bytes;
  driver_.exportMemory(memory, note.handle);
  closeOverlapping(memory);
  const uint32_t pieces = piecesOf(memory.first, memory.bytes);
  note.window = takeWindows(pieces);
  publish(note);
  used_.emplace(note.window, pieces);
  opened_[memory.first] = {memory.bytes, memory.identity, note.window, kept_.contains(memory.first)};
  return windowAt(memory.first, note.window, address);
}

/// What was there before has been freed.
void OwnWindows::closeOverlapping(const OwnMemory& memory) {
  auto at = opened_.upper_bound(memory.first);
  if (at != opened_.begin()) --at;
  while (at != opened_.end() && at->first < memory.first + memory.bytes) {
    at = at->first + at->second.bytes > memory.first ? close(at) : std::next(at);
  }
}

OwnWindows::Table::iterator OwnWindows::close(Table::iterator opened) {
  WindowNote note{};
  note.kind = WindowNote::closed;
  note.first = opened->first;
  note.bytes = opened->second.bytes;
  note.window = opened->second.window;
  publish(note);
  retired_.push_back({note.window, piecesOf(note.first, note.bytes), notes_->tail.load(order::relaxed) - 1});
  return opened_.erase(opened);
}

void OwnWindows::keep(uint64_t first) {
  const std::lock_guard lock(mutex_);
  kept_.insert(first);
}

std::optional<uint64_t> OwnWindows::forget(uint64_t first) {
  const std::lock_guard lock(mutex_);
  kept_.erase(first);
  const auto found = opened_.find(first);
  if (found == opened_.end()) return std::nullopt;
  close(found);
  return notes_->tail.load(order::relaxed) - 1;
}

void OwnWindows::sweep() {
  const std::lock_guard lock(mutex_);
  for (auto at = opened_.begin(); at != opened_.end();) {
    at = driver_.identityAt(at->first) == at->second.identity ? std::next(at) : close(at);
  }
}

size_t OwnWindows::size() const {
  const std::lock_guard lock(mutex_);
  return opened_.size();
}

/// A window's number comes again only when nobody can know it any more.
uint16_t OwnWindows::takeWindows(uint32_t pieces) {
  std::erase_if(retired_, [this](const Retired& retired) {
    if (!isTaken(retired.position)) return false;
    used_.erase(retired.window);
    return true;
  });
  for (int lap = 0; lap < 2; ++lap) {
    auto following = used_.lower_bound(next_);
    if (following != used_.begin()) {
      const auto before = std::prev(following);
      next_ = std::max(next_, before->first + before->second);
    }
    while (next_ + pieces <= windows::kCount) {
      if (following == used_.end() || next_ + pieces <= following->first) {
        const auto window = static_cast<uint16_t>(next_);
        next_ += pieces;
        return window;
      }
      next_ = following->first + following->second;
      ++following;
    }
    next_ = 1;
  }
  throw Error(dfcclOutOfMemory, "This process has no numbers left for memory that other processes are to map.",
              "Use fewer allocations at a time.", {{"allocations", std::to_string(opened_.size())}});
}

bool OwnWindows::isTaken(uint64_t position) const {
  for (uint32_t rank = 0; rank < segment_->ranks(); ++rank) {
    if (rank == segment_->rank() || segment_->presenceOf(rank) > Presence::joined) continue;
    if (notes_->taken[rank].load(order::acquire) <= position) return false;
  }
  return true;
}

void OwnWindows::publish(const WindowNote& note) {
  const uint64_t tail = notes_->tail.load(order::relaxed);
  if (tail >= WindowNotes::kCapacity && !isTaken(tail - WindowNotes::kCapacity)) {
    throw Error(dfcclQueueFull, "More memory was allocated or freed than the other processes have taken note of.",
                "Try again after a completion, and use the same buffers for many runs.",
                {{"notes", std::to_string(WindowNotes::kCapacity)}});
  }
  notes_->notes[tail % WindowNotes::kCapacity] = note;
  notes_->tail.store(tail + 1, order::release);
  PeerWatch::alarm(*segment_);
}

}  // namespace dfccl
