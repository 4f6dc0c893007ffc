#include "world/backlog.hpp"

#include <new>

namespace dfccl {

uint32_t Backlog::takeNode() {
  if (free_ != kNone) {
    const uint32_t number = free_;
    free_ = node(number).nextOfId;
    return number;
  }
  if (unused_ == chunks_.size() * kChunk) {
    if (unused_ > kNone - 2 * kChunk) throw std::bad_alloc();  // numbers have 32 bits
    chunks_.push_back(std::make_unique_for_overwrite<Node[]>(kChunk));
  }
  return unused_++;
}

void Backlog::add(const SubmittedRun& run) {
  const uint32_t number = takeNode();
  Node& added = node(number);
  added = {run, newest_, kNone, kNone};
  (newest_ == kNone ? oldest_ : node(newest_).newer) = number;
  newest_ = number;
  Queue& queue = queues_[run.sqe.id];
  if (queue.size == 0) {
    queue.first = number + 1;
  } else {
    node(queue.last - 1).nextOfId = number;
  }
  queue.last = number + 1;
  ++queue.size;
  ++size_;
}

void Backlog::pop(uint32_t id) {
  Queue& queue = queues_[id];
  const uint32_t number = queue.first - 1;
  Node& taken = node(number);
  queue.first = taken.nextOfId + 1;
  --queue.size;
  (taken.older == kNone ? oldest_ : node(taken.older).newer) = taken.newer;
  (taken.newer == kNone ? newest_ : node(taken.newer).older) = taken.older;
  if (--size_ != 0) {
    taken.nextOfId = free_;
    free_ = number;
    return;
  }
  // Most programs come here after each step.
  if (chunks_.size() > 1) chunks_.resize(1);
  free_ = kNone;
  unused_ = 0;
}

}  // namespace dfccl
