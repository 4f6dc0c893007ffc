#pragma once
#include "queues/submission_ring.hpp"

namespace dfccl {

enum class Reserve { ok, full, busy };

/// One of several producers of a SubmissionRing; one object a thread. Nothing here waits.
template <class Orders = SubmissionOrders>
class SubmissionProducer {
 public:
  /// @param owner Not 0 and this producer's alone, so that takeOver() can name it.
  SubmissionProducer(SubmissionRing ring, uint32_t owner)
      : ring_(ring), owner_(owner), head_(ring.header->head.load(order::relaxed)) {}

  /// Takes the lock and room for `count` entries. After ok, write every entry and publish, with no user code between.
  /// @return full: no room for all of them; busy: another producer is at work. Both leave the ring as it was.
  Reserve tryReserve(uint32_t count) {
    uint32_t unlocked = 0;
    if (!ring_.header->producerLock.compareExchange(unlocked, owner_, Orders::lock, order::relaxed)) {  // A3
      return Reserve::busy;
    }
    tail_ = ring_.header->tail.load(order::relaxed);
    if (hasRoom(count)) return Reserve::ok;
    unlock();
    return Reserve::full;
  }

  /// Whether `count` entries can be written before the next publish(). @pre Between tryReserve() and publish().
  bool hasRoom(uint32_t count) {
    if (tail_ + count - head_ <= ring_.capacity) return true;
    head_ = ring_.header->head.load(Orders::readHead);  // A2
    return tail_ + count - head_ <= ring_.capacity;
  }

  /// Position of the first reserved entry.
  uint64_t position() const { return tail_; }

  /// Fills the reserved entry number `index`; in order, 0 first. A reader that goes by the words may take it at once.
  void write(uint32_t index, const Sqe& sqe) {
    const uint64_t position = tail_ + index;
    uint64_t payload[kSqeWords];
    packSqe(sqe, position, payload);
    SqeMemory& memory = ring_.slot(position);
    constexpr int kLast = kSqeWords - 1;
    DFCCL_UNROLL8 for (int i = 0; i < kLast; ++i) {
      memory.words[i].store(sqeSequence(position) | payload[i], order::relaxed);  // each word vouches for itself
    }
    memory.words[kLast].store(sqeSequence(position) | payload[kLast], Orders::publishWord);  // R4
  }

  /// Publishes the first `count` entries, which must be all that were written, and gives the lock back.
  void publish(uint32_t count) {
    tail_ += count;
    ring_.header->tail.store(tail_, Orders::publishTail);  // R1
    unlock();
  }

  /// The three steps at once: all of the entries or none.
  Reserve submit(const Sqe* entries, uint32_t count) {
    const Reserve reserved = tryReserve(count);
    if (reserved != Reserve::ok) return reserved;
    for (uint32_t i = 0; i < count; ++i) write(i, entries[i]);
    publish(count);
    return Reserve::ok;
  }

  /// Frees the lock of a producer that died holding it. Its complete entries are published, because a reader that goes
  /// by the words may already have taken them. A half-written one is finished as void: were it written anew, such a
  /// reader could see words of both. It died before the last word, so that word alone decides.
  /// @pre `owner` never runs again.
  /// @return False if that producer does not hold the lock.
  bool takeOver(uint32_t owner) {
    if (!ring_.header->producerLock.compareExchange(owner, owner_, Orders::lock, order::relaxed)) return false;
    tail_ = ring_.header->tail.load(order::relaxed);
    uint32_t count = 0;
    while (writtenWords(tail_ + count) == kSqeWords) ++count;
    if (writtenWords(tail_ + count) != 0) {
      finishAsVoid(tail_ + count);
      ++count;
    }
    publish(count);
    return true;
  }

 private:
  void unlock() { ring_.header->producerLock.store(0, Orders::unlock); }  // R3

  int writtenWords(uint64_t position) const {
    int written = 0;
    for (const auto& word : ring_.slot(position).words) {
      if (hasSqeSequence(word.load(order::relaxed), position)) ++written;
    }
    return written;
  }

  void finishAsVoid(uint64_t position) {
    auto& words = ring_.slot(position).words;
    for (int i = 0; i < kSqeWords - 1; ++i) {
      if (hasSqeSequence(words[i].load(order::relaxed), position)) continue;
      words[i].store(sqeSequence(position), order::relaxed);
    }
    words[kSqeWords - 1].store(sqeSequence(position) | kSqeVoid, Orders::publishWord);  // R4
  }

  SubmissionRing ring_;
  uint32_t owner_;
  uint64_t head_;  // no newer than the leader's
  uint64_t tail_ = 0;
};

}  // namespace dfccl
