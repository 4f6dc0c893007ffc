#include "world/rank_queues.hpp"

namespace dfccl {

RankQueues::RankQueues(RankMemory& memory, const Atomic<uint64_t, Scope::device>* posted)
    : submissions_(memory.submissions),
      completions_(memory.completions),
      control_(memory.control),
      posted_(posted),
      producer_(memory.submissions, kOwner),
      claimer_(memory.completions),
      poller_(memory.completions),
      pending_(memory.limits.completionSlots),
      issuedRuns_(memory.limits.collectives),
      takenRuns_(memory.limits.collectives) {}

uint32_t RankQueues::submit(uint32_t index, const void* send, void* recv, RunCallback callback, void* argument,
                            RunWindows windows, std::optional<PlaceOnLine> behind) {
  Reserve reserved;
  while ((reserved = producer_.tryReserve(1)) == Reserve::busy) cpuPause();  // another thread, or JavaScript
  if (reserved == Reserve::full) return kFull;
  const uint32_t slot = claimer_.tryClaim();
  if (slot == kNoCompletionSlot) {
    producer_.publish(0);
    return kFull;
  }
  pending_[slot] = {callback, argument, callback == nullptr};
  issuedRuns_[index].store(issuedRuns_[index].load(order::relaxed) + 1, order::relaxed);
  tally_.noteIssued();
  Sqe sqe{};
  sqe.id = index;
  sqe.flags = (behind ? kSqeBehindStream : 0) | control_.flagsOfEntry();
  if (behind) sqe.run = sqeRunOfLine(behind->line, behind->number);
  sqe.completionSlot = slot;
  sqe.sendAddress = reinterpret_cast<uint64_t>(send);
  sqe.recvAddress = reinterpret_cast<uint64_t>(recv);
  sqe.sendWindow = windows.send;
  sqe.recvWindow = windows.recv;
  producer_.write(0, sqe);
  producer_.publish(1);
  return slot;
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

uint64_t RankQueues::overOf(uint32_t index) {
  while (!pollLock_.tryLock()) cpuPause();
  uint64_t over = takenRuns_[index].load(order::relaxed);
  const uint32_t used = completions_.header->used.load(order::relaxed);
  for (uint32_t slot = 0; slot < used; ++slot) {
    const uint64_t cqe = completions_.slots[slot].load(order::acquire);
    over += cqe != 0 && static_cast<uint32_t>(cqe) == index;
  }
  pollLock_.unlock();
  return over;
}

namespace {
dfcclResult_t statusOf(uint64_t cqe) {
  return static_cast<CqeStatus>((cqe >> 32) & 0xffff) == CqeStatus::completed ? dfcclSuccess : dfcclAborted;
}
}  // namespace

bool RankQueues::takeCompletion(uint32_t slot, dfcclResult_t& status) {
  Atomic<uint64_t>& word = completions_.slots[slot];
  const uint64_t cqe = word.load(order::acquire);
  if (cqe == 0) return false;
  while (!pollLock_.tryLock()) cpuPause();
  word.store(0, order::relaxed);
  pending_[slot].isWaited = false;
  poller_.free(slot);
  noteTaken(cqe);
  taken_.store(taken_.load(order::relaxed) + 1, order::relaxed);
  pollLock_.unlock();
  tally_.noteDelivered(1);
  status = statusOf(cqe);
  return true;
}

bool RankQueues::hasClaimed() const {
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

namespace {

/// Whose callbacks this thread is in, innermost first.
struct Delivery {
  const RankQueues* queues;
  const Delivery* outer;
};
thread_local const Delivery* innermostDelivery = nullptr;

}  // namespace

bool RankQueues::isDelivering() const {
  for (const Delivery* d = innermostDelivery; d != nullptr; d = d->outer) {
    if (d->queues == this) return true;
  }
  return false;
}

uint32_t RankQueues::deliverBatch() {
  if (!pollLock_.tryLock()) return 0;
  struct Finished {
    RunCallback callback;
    void* argument;
    dfcclResult_t status;
  };
  Finished batch[kDeliveryBatch];
  uint32_t count = 0;
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
    noteTaken(cqe);
    taken_.store(taken_.load(order::relaxed) + 1, order::relaxed);
  }
  pollLock_.unlock();
  const Delivery delivery{this, innermostDelivery};
  innermostDelivery = &delivery;
  for (uint32_t i = 0; i < count; ++i) batch[i].callback(batch[i].argument, batch[i].status);
  innermostDelivery = delivery.outer;
  tally_.noteDelivered(count);
  return count;
}

}  // namespace dfccl
