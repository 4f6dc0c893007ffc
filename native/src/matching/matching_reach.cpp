// How runs whose buffers other ranks don't reach get what they need, and what becomes of it when they are given up.
#include "base/error.hpp"
#include "matching/buffer_copies.hpp"
#include "matching/matching.hpp"
#include "matching/unlocked.hpp"

namespace dfccl {

/// Runs of what was given up end at once, with what they were given: nobody touches that who has let go.
void Matching::takeBackAside(const MatchedCollective& entry) {
  if (!pool_.hasAside() || !backend_.isAborted(rank_, entry.index)) return;
  if (backend_.isQuarantineOver(rank_, entry.index)) pool_.endQuarantine(entry.registration);
}

void Matching::takeBackAllAside() {
  table_.forEach([this](const MatchedCollective& entry) { takeBackAside(entry); });
}

/// bringIntoReach(), without the lock. Where memory is short, what others were given up with comes back first.
void Matching::bring(MatchedCollective& entry, const void*& send, void*& recv, RequestPart& part,
                     std::unique_lock<std::mutex>& lock) {
  takeBackAside(entry);
  for (bool isLast = false;; isLast = true) {
    const void* from = send;
    void* to = recv;
    try {
      const Unlocked unlocked(lock, entry);
      bringIntoReach(pool_, entry, from, to, part);
      send = from;
      recv = to;
      return;
    } catch (const Error& error) {
      part.giveBackCopies();
      if (isLast || error.status() != dfcclOutOfMemory) throw;
    }
    takeBackAllAside();
  }
}

/// With copies of the buffers, which are made without the lock. @pre mayCopy()
bool Matching::submitCopied(MatchedCollective& entry, const MatchedRun& run, RequestPart& part,
                            std::unique_lock<std::mutex>& lock) {
  const void* send = run.send;
  void* recv = run.recv;
  try {
    bring(entry, send, recv, part, lock);
    checkOpen(*entry.group);  // it may have been given up meanwhile
    return queue(entry, send, recv, run.stream, &part, lock);
  } catch (...) {
    part.giveBackCopies();
    throw;
  }
}

}  // namespace dfccl
