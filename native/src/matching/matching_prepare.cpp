// What may be refused of runs that are submitted together, before any of them is.
#include <utility>

#include "matching/matching.hpp"

namespace dfccl {

void Matching::prepare(BatchedRun& batched) {
  MatchedRun& run = batched.run;
  noteStream(run, *batched.group);
  std::unique_lock lock(mutex_);
  checkOpen(*batched.group);
  const auto check = [&](MatchedCollective& entry) { checkPrepared(entry, batched, lock); };
  MatchedCollective* entry = nullptr;
  if (run.capture) {
    entry = &entryOf(run, batched.group, check);
  } else {
    entry = &table_.get(run.signature, batched.group);
    check(*entry);
  }
  ++entry->pins;  // nobody forgets it meanwhile
  batched.entry = entry;
}

/// And brings its buffers where the others reach them. Under the lock.
void Matching::checkPrepared(MatchedCollective& entry, BatchedRun& batched, std::unique_lock<std::mutex>& lock) {
  MatchedRun& run = batched.run;
  if (run.kind != RunKind::whole) {
    checkHalf(entry.shape, run);
    // A rank that is alone in its group has only itself to receive from.
    if (run.kind == RunKind::receiveFromAny && batched.group->size() > 1) checkBuffers(entry, nullptr, run.recv);
  } else {
    checkBuffers(entry, run.send, run.recv);
    if (!entry.isReached(run.send, entry.shape.sendBytes) || !entry.isReached(run.recv, entry.shape.recvBytes)) {
      bring(entry, run.send, run.recv, *batched.part, lock);
    }
  }
}

void Matching::forgo(BatchedRun& batched) {
  const std::lock_guard lock(mutex_);
  batched.part->giveBackCopies();
  --std::exchange(batched.entry, nullptr)->pins;
}

}  // namespace dfccl
