// Runs, from those who submit them to the daemon.
#include "world/rank_queues.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace dfccl {

RankQueues::RankQueues(RankMemory& memory, const Atomic<uint64_t, Scope::device>* posted, std::function<void()> ring)
    : submissions_(memory.submissions),
      completions_(memory.completions),
      control_(memory.control),
      posted_(posted),
      sharedSlots_(memory.limits.completionSlots),
      limit_(sharedSlots_),
      producer_(memory.submissions, kOwner),
      claimer_(memory.completions),
      pending_(slotsMade(memory.limits)),
      issuedRuns_(memory.limits.collectives),
      takenRuns_(memory.limits.collectives),
      poller_(memory.completions),
      keepsWaiting_(memory.limits.ownPlaces && memory.policy.streams == 0),
      ring_(std::move(ring)),
      formerRuns_(memory.limits.collectives),
      backlog_(memory.limits.collectives),
      vacated_(memory.limits.collectives) {}

void RankQueues::lockQueue() {
  while (producer_.tryReserve(0) == Reserve::busy) cpuPause();
}

void RankQueues::lockPoll() {
  while (!pollLock_.tryLock()) cpuPause();
}

/// Gives the daemon a run. @pre There are a free slot and room for the entry. @return the slot.
inline uint32_t RankQueues::write(uint32_t entry, Sqe sqe, RunCallback callback, void* argument) {
  const uint32_t slot = claimer_.tryClaim();
  pending_[slot] = {callback, argument, callback == nullptr};
  sqe.flags |= control_.flagsOfEntry();
  sqe.completionSlot = slot;
  producer_.write(entry, sqe);
  return slot;
}

namespace {

// By each way anew: one entry for all of them would be made in memory, and be read back from there.
[[gnu::always_inline]] inline Sqe entryOf(uint32_t index, const void* send, void* recv, RunWindows windows,
                                          PlaceOnLine behind, uint64_t count) {
  const bool waits = behind.line != PlaceOnLine::kNoLine;
  return {
      .id = index,
      .flags = waits ? kSqeBehindStream : 0,
      .run = waits ? sqeRunOfLine(behind.line, behind.number) : 0,
      .completionSlot = 0,  // write() knows it
      .sendAddress = reinterpret_cast<uint64_t>(send),
      .recvAddress = reinterpret_cast<uint64_t>(recv),
      .count = count,
      .sendWindow = windows.send,
      .recvWindow = windows.recv,
  };
}

}  // namespace

uint32_t RankQueues::submit(uint32_t index, const void* send, void* recv, RunCallback callback, void* argument,
                            RunWindows windows, PlaceOnLine behind, uint64_t count) {
  Reserve reserved;
  while ((reserved = producer_.tryReserve(1)) == Reserve::busy) cpuPause();  // another thread, or JavaScript
  if (reserved == Reserve::full || claimer_.claimedCount() >= limit_) [[unlikely]]
    return submitBeyondSlots({entryOf(index, send, recv, windows, behind, count), callback, argument},
                             reserved == Reserve::ok);
  issuedRuns_[index].store(issuedRuns_[index].load(order::relaxed) + 1, order::relaxed);
  tally_.noteIssued();
  const uint32_t slot = write(0, entryOf(index, send, recv, windows, behind, count), callback, argument);
  producer_.publish(1);
  return slot;
}

void RankQueues::noteInStream(uint32_t index) {
  lockQueue();
  issuedRuns_[index].store(issuedRuns_[index].load(order::relaxed) + 1, order::relaxed);
  tally_.noteIssued();
  producer_.publish(0);
}

/// None of an id's runs is with the daemon, or completed in its slot.
bool RankQueues::isIdle(uint32_t index) const {
  const uint64_t given = issuedRuns_[index].load(order::relaxed) - backlog_.sizeOf(index);
  return takenRuns_[index].load(order::acquire) == given;  // A1
}

/// @param isLocked the caller has the queue's lock, which is given back here.
[[gnu::cold, gnu::noinline]] uint32_t RankQueues::submitBeyondSlots(const SubmittedRun& run, bool isLocked) {
  if (!isLocked) lockQueue();
  const uint32_t index = run.sqe.id;
  uint32_t entries = 0;
  admit(entries);
  uint32_t result = kFull;
  const bool mayBegin = claimer_.claimedCount() < limit_ || (keepsWaiting_ && isIdle(index));
  if (mayBegin && backlog_.sizeOf(index) == 0 && producer_.hasRoom(entries + 1)) {
    result = write(entries++, run.sqe, run.callback, run.argument);
  } else if (keepsWaiting_ && run.callback != nullptr) {
    try {
      backlog_.add(run);
      result = kWaits;
    } catch (const std::bad_alloc&) {
      result = kNoMemory;
    }
  }
  if (isTaken(result)) {
    issuedRuns_[index].store(issuedRuns_[index].load(order::relaxed) + 1, order::relaxed);
    tally_.noteIssued();
  }
  if (result == kWaits) {
    noteWaiting();
    if (backlog_.size() == 1 || isIdle(index)) seeVacated(index, entries);
  }
  producer_.publish(entries);  // its submitter rings
  return result;
}

/// The first run that waits, or one that only the queue's room keeps waiting. Whoever frees a slot from here on sees
/// that runs wait, and notes whose it was; what was freed before is seen here.
void RankQueues::seeVacated(uint32_t index, uint32_t& entries) {
  lockPoll();
  if (isIdle(index)) vacated_.add(index);
  pollLock_.unlock();
  admit(entries);
}

void RankQueues::noteWaiting() {
  waiting_.store(backlog_.size(), order::relaxed);
  limit_ = backlog_.isEmpty() ? sharedSlots_ : 0;
}

/// The first of an id that waits. @return false: there is no room for its entry.
bool RankQueues::admit(uint32_t index, uint32_t& entries) {
  if (!producer_.hasRoom(entries + 1)) return false;
  const SubmittedRun& run = backlog_.first(index);
  write(entries++, run.sqe, run.callback, run.argument);
  backlog_.pop(index);
  return true;
}

bool RankQueues::submitExit() {
  Reserve reserved;
  while ((reserved = producer_.tryReserve(1)) == Reserve::busy) cpuPause();
  if (reserved == Reserve::full) return false;
  Sqe sqe{};
  sqe.flags = kSqeExit;
  producer_.write(0, sqe);
  producer_.publish(1);
  return true;
}

/// Whether flushBacklog() might find room. Any thread; what it overlooks, whoever makes room sees.
bool RankQueues::mayAdmit(uint64_t leastRoom) const {
  const SubmissionRingHeader& ring = *submissions_.header;
  if (ring.tail.load(order::relaxed) - ring.head.load(order::relaxed) >= submissions_.capacity) return false;
  const uint64_t claimed = claimer_.claimedCount();
  const uint64_t room = sharedSlots_ - std::min<uint64_t>(claimed, sharedSlots_);
  if (room >= leastRoom || (leastRoom == 1 && vacated_.isSeenFilled())) return true;
  // Of a GPU nobody knows without a look at all slots.
  if (posted_ == nullptr) return true;
  const uint64_t found = taken_.load(order::relaxed) + finishedCount_.load(order::relaxed);
  return room + posted_->load(order::acquire) - found >= leastRoom;
}

void RankQueues::flushBacklog() {
  lockQueue();
  uint32_t entries = 0;
  admit(entries);
  if (!backlog_.isEmpty() && claimer_.claimedCount() >= sharedSlots_) {
    lockPoll();
    takeOffSlots();
    pollLock_.unlock();
    admit(entries);
  }
  producer_.publish(entries);
  if (entries != 0) ring_();
}

/// Writes entries of what may begin: the oldest while there are shared slots, and the first of each id that has nothing
/// under way. Under the queue's lock.
void RankQueues::admit(uint32_t& entries) {
  while (!backlog_.isEmpty() && claimer_.claimedCount() < sharedSlots_) {
    if (!admit(backlog_.oldest().sqe.id, entries)) break;
  }
  if (!backlog_.isEmpty()) {
    lockPoll();
    while (!vacated_.isEmpty()) {
      const uint32_t index = vacated_.last();
      if (backlog_.sizeOf(index) != 0 && isIdle(index) && !admit(index, entries)) break;
      vacated_.dropLast();
    }
    pollLock_.unlock();
  }
  noteWaiting();
}

}  // namespace dfccl
