#pragma once
#include <unistd.h>

#include <atomic>

namespace dfccl_torch {

/// One object a process, made at first use and never destroyed: threads of the engine may still use it while the
/// process ends. A forked child, which has none of its parent's threads, makes its own.
template <class T>
class PerProcess {
 public:
  T& get() {
    Entry* entry = entry_.load(std::memory_order_acquire);
    while (entry == nullptr || entry->process != getpid()) {
      auto* mine = new Entry{getpid(), {}};
      if (entry_.compare_exchange_strong(entry, mine, std::memory_order_acq_rel)) return mine->object;
      delete mine;
    }
    return entry->object;
  }

 private:
  struct Entry {
    pid_t process;
    T object;
  };
  std::atomic<Entry*> entry_{nullptr};
};

}  // namespace dfccl_torch
