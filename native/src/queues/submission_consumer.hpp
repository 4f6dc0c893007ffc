#pragma once
#include "queues/submission_ring.hpp"

namespace dfccl {

/// How the leader learns that an entry is there.
enum class ReadMode {
  tail,   // it reads the tail: one shared line, for a reader on the same CPU
  words,  // it polls the entry itself: one 64-byte read across the bus, for a GPU
};

/// The leader's end of a SubmissionRing. One at a time; it starts where the last one released.
template <ReadMode Mode = ReadMode::tail, class Orders = SubmissionOrders>
class SubmissionConsumer {
 public:
  explicit SubmissionConsumer(SubmissionRing ring)
      : ring_(ring), position_(ring.header->head.load(order::relaxed)), released_(position_), tail_(position_) {}

  /// Reads the entry at position() and leaves it there. @return False if there is none yet.
  bool peek(Sqe& out) {
    uint64_t words[kSqeWords];
    while (readWords(words)) {
      if ((words[kSqeWords - 1] & kSqePayloadMask) != kSqeVoid) {
        out = unpackSqe(words);
        return true;
      }
      ++position_;  // a dead producer's
    }
    return false;
  }

  /// Steps over the entry that peek() showed. Its slot stays taken until release().
  void pop() { ++position_; }

  /// Gives the slots of all popped entries back to the producers. Call it at the end of every round of reading, also of
  /// one that found nothing: peek() may have stepped over a void entry.
  void release() {
    if (released_ == position_) return;
    released_ = position_;
    ring_.header->head.store(position_, Orders::publishHead);  // R2
  }

  /// peek, pop and release at once.
  bool take(Sqe& out) {
    const bool isThere = peek(out);
    if (isThere) pop();
    release();
    return isThere;
  }

  /// Position of the entry that the last peek() showed, if it showed one and it was not popped.
  uint64_t position() const { return position_; }

 private:
  bool readWords(uint64_t (&words)[kSqeWords]) {
    if constexpr (Mode == ReadMode::tail) {
      if (position_ == tail_) {
        tail_ = ring_.header->tail.load(Orders::readTail);  // A1
        if (position_ == tail_) return false;
      }
    }
    const SqeMemory& memory = ring_.slot(position_);
    DFCCL_UNROLL8 for (int i = 0; i < kSqeWords; ++i) {
      if constexpr (Mode == ReadMode::tail) {
        words[i] = memory.words[i].load(order::relaxed);
      } else {
        words[i] = memory.words[i].load(i == kSqeWords - 1 ? Orders::readWord : order::relaxed);  // A4
        if (!hasSqeSequence(words[i], position_)) return false;
      }
    }
    return true;
  }

  SubmissionRing ring_;
  uint64_t position_;
  uint64_t released_;
  uint64_t tail_;  // no newer than the producers'
};

}  // namespace dfccl
