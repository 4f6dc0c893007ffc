#include "host/rank/wait_notes.hpp"

#include <new>

namespace dfccl::gpu {

WaitNotes::WaitNotes()
    : pinned_(kMost * sizeof(WaitNote) + 128),
      notes_{new (pinned_.take(kMost * sizeof(WaitNote))) WaitNote[kMost]{}, kMost} {
  for (WaitNote& note : notes_) note.isOver.store(1, order::relaxed);
}

WaitNote* WaitNotes::take() {
  const std::lock_guard lock(mutex_);
  for (uint32_t tried = 0; tried < kMost; ++tried) {
    WaitNote& note = notes_[next_];
    next_ = (next_ + 1) % kMost;
    if (note.isOver.load(order::acquire) == 0) continue;
    note.isRetracted.store(0, order::relaxed);
    note.isOver.store(0, order::release);
    return &note;
  }
  return nullptr;
}

}  // namespace dfccl::gpu
