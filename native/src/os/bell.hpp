#pragma once
// Threads of the engine that sleep while there is nothing to do.
#include <atomic>
#include <cstdint>
#include <functional>

#include "base/atomics.hpp"
#include "os/futex.hpp"

namespace dfccl {

class Bell {
 public:
  /// To be remembered before the last look for work.
  uint32_t seen() const { return rings_.load(order::seqCst); }
  /// Sleeps until somebody rings, unless he has since `seen` or there is work. A thread says that it sleeps and then
  /// looks; a submitter stores its entry and then looks here: with both in one order over all threads, one sees the
  /// other.
  template <class HasWork>
  void sleep(uint32_t seen, uint64_t mostMicros, HasWork&& hasWork) {
    sleepers_.fetchAdd(1, order::seqCst);
    if (rings_.load(order::seqCst) == seen && !hasWork()) futexWait(&rings_.value, seen, mostMicros);
    sleepers_.fetchSub(1, order::seqCst);
  }
  void wake() {
    rings_.fetchAdd(1, order::seqCst);
    if (sleepers_.load(order::seqCst) == 0) return;
    futexWakeAll(&rings_.value);
    if (const auto* const wakeOther = other_.load(std::memory_order_acquire)) (*wakeOther)();
  }
  /// Somebody who sleeps in a way of his own, and counts himself in sleepers() meanwhile. @param wake stays; null:
  /// nobody
  void setOther(const std::function<void()>* wake) { other_.store(wake, std::memory_order_release); }
  /// After a submission.
  void ring() {
    if (sleepers_.load(order::seqCst) != 0) wake();
  }
  Atomic<uint32_t>& sleepers() { return sleepers_; }

 private:
  alignas(64) Atomic<uint32_t> rings_;
  alignas(64) Atomic<uint32_t> sleepers_;
  std::atomic<const std::function<void()>*> other_{nullptr};
};

}  // namespace dfccl
