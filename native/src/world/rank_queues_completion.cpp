// Completions, from their slots to the callbacks.
#include <new>

#include "world/rank_queues.hpp"
#include "world/user_callback.hpp"

namespace dfccl {
namespace {

dfcclResult_t statusOf(uint64_t cqe) {
  static constexpr dfcclResult_t kResults[] = {dfcclAborted, dfcclSuccess, dfcclAborted, dfcclCountMismatch};
  return kResults[(cqe >> 32) & 3];
}

/// Whose callbacks this thread is in, innermost first.
struct Delivery {
  const RankQueues* queues;
  const Delivery* outer;
};
thread_local const Delivery* innermostDelivery = nullptr;

}  // namespace

inline void RankQueues::noteFreed(uint64_t cqe) {
  const auto index = static_cast<uint32_t>(cqe);
  Atomic<uint64_t>& taken = takenRuns_[index];
  taken.store(taken.load(order::relaxed) + 1, order::release);  // R1 -> A1: with the slot, which was freed before
  if (waiting_.load(order::relaxed) != 0) [[unlikely]]
    vacated_.add(index);
}

uint64_t RankQueues::overOf(uint32_t index) {
  lockPoll();
  uint64_t over = takenRuns_[index].load(order::relaxed) - formerRuns_[index].load(order::relaxed);
  const uint32_t used = completions_.header->used.load(order::relaxed);
  for (uint32_t slot = 0; slot < used; ++slot) {
    const uint64_t cqe = completions_.slots[slot].load(order::acquire);
    over += cqe != 0 && static_cast<uint32_t>(cqe) == index;
  }
  over += inStreams_.overOf(index);
  pollLock_.unlock();
  return over;
}

bool RankQueues::takeCompletion(uint32_t slot, dfcclResult_t& status) {
  Atomic<uint64_t>& word = completions_.slots[slot];
  const uint64_t cqe = word.load(order::acquire);
  if (cqe == 0) return false;
  lockPoll();
  word.store(0, order::relaxed);
  pending_[slot].isWaited = false;
  poller_.free(slot);
  noteFreed(cqe);
  taken_.store(taken_.load(order::relaxed) + 1, order::relaxed);
  pollLock_.unlock();
  tally_.noteDelivered(1);
  flush();
  status = statusOf(cqe);
  return true;
}

bool RankQueues::hasClaimed() const {
  if (inStreams_.hasAny()) return true;
  if (waiting_.load(order::relaxed) + finishedCount_.load(order::relaxed) != 0) return true;
  const OwnedSlotsHeader& header = *completions_.header;
  // Claims, of free slots and of unused ones, less what was given back; given back first, so that none looks lost.
  const uint32_t freed = header.freed.load(order::acquire);
  return header.claimed.load(order::relaxed) + header.used.load(order::relaxed) != freed;
}

bool RankQueues::hasPosted() const {
  const uint32_t used = completions_.header->used.load(order::relaxed);
  for (uint32_t slot = 0; slot < used; ++slot) {
    if (completions_.slots[slot].load(order::relaxed) != 0) return true;
  }
  return false;
}

bool RankQueues::takeSleeper() {
  Atomic<uint32_t>& waiters = submissions_.header->waiters;
  return waiters.load(order::relaxed) != 0 && waiters.exchange(0, order::acqRel) != 0;
}

bool RankQueues::isDelivering() const {
  for (const Delivery* d = innermostDelivery; d != nullptr; d = d->outer) {
    if (d->queues == this) return true;
  }
  return false;
}

uint32_t RankQueues::deliverBatch() {
  if (!pollLock_.tryLock()) return 0;
  Finished batch[kDeliveryBatch];
  uint32_t count = 0;
  if (finishedCount_.load(order::relaxed) != 0) [[unlikely]]
    count = takeFinished(batch);
  const uint32_t slots = completions_.header->used.load(order::relaxed);
  for (uint32_t scanned = 0; scanned < slots && count < kDeliveryBatch && hasUndelivered(); ++scanned) {
    const uint32_t slot = cursor_;
    cursor_ = cursor_ + 1 < slots ? cursor_ + 1 : 0;
    Atomic<uint64_t>& word = completions_.slots[slot];
    const uint64_t cqe = word.load(order::acquire);
    if (cqe == 0 || pending_[slot].isWaited) continue;
    batch[count++] = {pending_[slot].callback, pending_[slot].argument, statusOf(cqe)};
    word.store(0, order::relaxed);
    poller_.free(slot);
    noteFreed(cqe);
    taken_.store(taken_.load(order::relaxed) + 1, order::relaxed);
  }
  inStreams_.take(kDeliveryBatch - count, [&](const RunsInStreams::Run& run, dfcclResult_t status) {
    batch[count++] = {run.callback, run.argument, status};
    takenRuns_[run.index].store(takenRuns_[run.index].load(order::relaxed) + 1, order::release);
  });
  pollLock_.unlock();
  flush();  // the daemon goes on while the callbacks run
  const Delivery delivery{this, innermostDelivery};
  innermostDelivery = &delivery;
  for (uint32_t i = 0; i < count; ++i) {
    const UserCallback callback;
    batch[i].callback(batch[i].argument, batch[i].status);
  }
  innermostDelivery = delivery.outer;
  tally_.noteDelivered(count);
  return count;
}

[[gnu::cold, gnu::noinline]] uint32_t RankQueues::takeFinished(Finished (&batch)[kDeliveryBatch]) {
  uint32_t count = 0;
  for (; !finished_.empty() && count < kDeliveryBatch; ++count) {
    batch[count] = finished_.front();
    finished_.pop_front();
  }
  finishedCount_.store(finished_.size(), order::relaxed);
  taken_.store(taken_.load(order::relaxed) + count, order::relaxed);
  return count;
}

/// Callbacks of what has completed come later: the slots are needed now.
void RankQueues::takeOffSlots() {
  const uint32_t slots = completions_.header->used.load(order::relaxed);
  for (uint32_t scanned = 0; scanned < slots; ++scanned) {
    if (posted_ != nullptr && posted_->load(order::acquire) == taken_.load(order::relaxed) + finished_.size()) break;
    const uint32_t slot = cursor_;
    cursor_ = cursor_ + 1 < slots ? cursor_ + 1 : 0;
    Atomic<uint64_t>& word = completions_.slots[slot];
    const uint64_t cqe = word.load(order::acquire);
    if (cqe == 0 || pending_[slot].isWaited) continue;
    try {
      finished_.push_back({pending_[slot].callback, pending_[slot].argument, statusOf(cqe)});
    } catch (const std::bad_alloc&) {
      break;  // whoever delivers makes room too
    }
    word.store(0, order::relaxed);
    poller_.free(slot);
    noteFreed(cqe);
  }
  finishedCount_.store(finished_.size(), order::relaxed);
}

}  // namespace dfccl
