#include "processes/own_windows.hpp"

#include <cstring>
#include <new>
#include <string>

#include "base/error.hpp"
#include "daemon/state/windows.hpp"
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
  auto found = find(address);
  if (found == opened_.end() || found->second.window == 0) found = open(address);
  if ((found->second.reach = reachOf(found->second)) == Reach::refused) {
    throw Error(dfcclSystemError, "A buffer lies in memory that another process can't map.",
                "Run `dfccl doctor`: it says whether the devices reach each other. Or register a program that moves "
                "everything through connectors.");
  }
  return windowAt(found->first, found->second.window, address);
}

uint16_t OwnWindows::mappedWindowOf(uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = find(address);
  if (found == opened_.end()) {
    const bool isNew = wanted_.size() < WindowNotes::kCapacity && wanted_.insert(address).second;
    if (isNew) PeerWatch::alarm(*segment_);
    return windows::kUnmapped;
  }
  auto& [first, opened] = *found;
  if (opened.window == 0) return windows::kUnmapped;
  opened.reach = reachOf(opened);
  return opened.reach == Reach::mapped ? windowAt(first, opened.window, address) : windows::kUnmapped;
}

void OwnWindows::exportWanted() {
  std::set<uint64_t> wanted;
  {
    const std::lock_guard lock(mutex_);
    wanted.swap(wanted_);
  }
  for (const uint64_t address : wanted) exportOne(address);
}

/// The driver is asked without the lock, which those who submit take.
void OwnWindows::exportOne(uint64_t address) {
  const OwnMemory memory = driver_.memoryAt(address);
  if (memory.bytes == 0) return;
  WindowNote note{};
  note.isOptional = 1;
  bool isExported = true;
  try {
    driver_.exportMemory(memory, note.handle);
  } catch (const Error&) {
    isExported = false;
  }
  const std::lock_guard lock(mutex_);
  if (find(address) != opened_.end()) return;
  try {
    if (isExported) {
      announce(memory, note);
    } else {
      closeOverlapping(memory);
      opened_[memory.first] = {.bytes = memory.bytes, .identity = memory.identity};
    }
  } catch (const Error&) {
    // The others are behind, or no number is free: it is asked for again by the next run.
  }
}

/// @return the allocation in which `address` lies, if it is still the one that was opened.
OwnWindows::Table::iterator OwnWindows::find(uint64_t address) {
  auto found = opened_.upper_bound(address);
  if (found == opened_.begin()) return opened_.end();
  const auto& [first, opened] = *--found;
  const bool isIn = address - first < opened.bytes;
  return isIn && (opened.isKept || driver_.identityAt(address) == opened.identity) ? found : opened_.end();
}

OwnWindows::Table::iterator OwnWindows::open(uint64_t address) {
  const OwnMemory memory = driver_.memoryAt(address);
  if (memory.bytes == 0) {
    throw Error(dfcclInvalidArgument, "The driver knows of no memory at an address that a run was to use.",
                "Pass memory that is allocated, and keep it until the run is over.");
  }
  WindowNote note{};
  driver_.exportMemory(memory, note.handle);
  return announce(memory, note);
}

OwnWindows::Table::iterator OwnWindows::announce(const OwnMemory& memory, WindowNote& note) {
  closeOverlapping(memory);
  const uint32_t pieces = piecesOf(memory.first, memory.bytes);
  note.kind = WindowNote::opened;
  note.first = memory.first;
  note.bytes = memory.bytes;
  note.window = takeWindows(pieces);
  publish(note);
  used_.emplace(note.window, pieces);
  const uint64_t position = notes_->tail.load(order::relaxed) - 1;
  const Opened opened{memory.bytes,   memory.identity, note.window, kept_.contains(memory.first),
                      Reach::unknown, position};
  return opened_.insert_or_assign(memory.first, opened).first;
}

OwnWindows::Reach OwnWindows::reachOf(const Opened& opened) const {
  if (opened.reach != Reach::unknown || opened.window == 0 || !isTaken(opened.position)) return opened.reach;
  const bool isRefused = notes_->isRefused[opened.position % WindowNotes::kCapacity].load(order::relaxed) != 0;
  return isRefused ? Reach::refused : Reach::mapped;
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
  if (opened->second.window == 0) return opened_.erase(opened);
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
  const auto found = opened_.find(first);
  const bool wasExported = found != opened_.end() && found->second.window != 0;
  if (found != opened_.end()) close(found);  // where that is refused, the memory is kept still
  kept_.erase(first);
  if (!wasExported) return std::nullopt;
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
    if (!isReleased(retired.position)) return false;
    used_.erase(retired.window);
    return true;
  });
  for (int lap = 0; lap < 2; ++lap) {
    auto following = used_.lower_bound(next_);
    if (following != used_.begin()) {
      const auto before = std::prev(following);
      next_ = std::max(next_, before->first + before->second);
    }
    while (next_ + pieces <= windows::kUnmapped) {
      if (following == used_.end() || next_ + pieces <= following->first) {
        const auto window = static_cast<uint16_t>(next_);
        noteRenewal(window, pieces);
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

/// Before anybody is told of the number.
void OwnWindows::noteRenewal(uint32_t window, uint32_t pieces) {
  bool isRenewed = false;
  for (uint32_t each = window; each < window + pieces; ++each) {
    isRenewed |= had_[each];
    had_[each] = true;
  }
  if (isRenewed) renewals_.fetchAdd(1, order::acqRel);
}

bool OwnWindows::isTaken(uint64_t position) const { return havePassed(notes_->taken, position); }
bool OwnWindows::isReleased(uint64_t position) const { return havePassed(notes_->released, position); }

bool OwnWindows::havePassed(const Atomic<uint64_t>* counts, uint64_t position) const {
  for (uint32_t rank = 0; rank < segment_->ranks(); ++rank) {
    if (rank == segment_->rank() || !segment_->isLocal(rank) || segment_->presenceOf(rank) > Presence::joined) continue;
    if (counts[rank].load(order::acquire) <= position) return false;
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
  WindowNote& place = notes_->notes[tail % WindowNotes::kCapacity];
  // What the others have said of the note that was here can't be asked any more.
  const auto former = opened_.find(place.first);
  if (former != opened_.end() && former->second.position + WindowNotes::kCapacity == tail)
    former->second.reach = reachOf(former->second);
  place = note;
  notes_->isRefused[tail % WindowNotes::kCapacity].store(0, order::relaxed);
  notes_->tail.store(tail + 1, order::release);
  PeerWatch::alarm(*segment_);
}

}  // namespace dfccl
