#pragma once
// What the host asks of a rank's daemon beside runs: that it drops or forgets collectives, and that it writes to the
// device's memory or shows what is there. All of it goes through mapped memory with plain stores, because the driver
// may be another thread's until the device is idle, and the device waits for the run that needs this (decision 23).
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

#include "daemon/state/rank_memory.hpp"
#include "host/driver/index_table.hpp"

namespace dfccl::gpu {

class PinnedMemory;

class RankRequests {
 public:
  /// Of the pinned memory that it takes.
  static constexpr size_t kBytes = size_t{2} << 20;

  /// @param wake lets whoever starts daemons look. @param isOver the rank takes no requests any more.
  RankRequests(PinnedMemory& pinned, ControlRing& ring, std::function<void()> wake, std::function<bool()> isOver);

  // Any thread. Where the queue is full they wait for the daemon, which whoever starts daemons can always start: while
  // a stream waits it is there, and while none does nothing keeps the driver for ever.
  void abort(uint32_t collective);
  void forget(const IndexTable::Entry& place);
  /// In the device's memory, before any run that is submitted afterwards. @return what to ask isDone() for.
  uint64_t copy(void* to, const void* from, size_t bytes);
  /// @return what to ask isDone() for.
  uint64_t clear(void* to, size_t bytes);
  bool isDone(uint64_t request) const { return ring_.head.load(order::acquire) >= request; }
  /// @return false: the rank takes no requests any more.
  bool awaitDone(uint64_t request) const {
    return await([&] { return isDone(request); });
  }
  /// Copies from the device's memory and waits for it. @return false: the rank takes no requests any more.
  bool show(void* to, const void* from, size_t bytes);
  /// Whether the daemon has yet to see some.
  bool areLeft() const { return ring_.tail.load(order::acquire) != ring_.head.load(order::acquire); }

 private:
  struct Lent {
    uint64_t position;  // of the request that uses them
    uint64_t end;       // of the bytes ever lent
  };

  // Under mutex_. @return false: the rank takes no requests any more.
  bool put(const ControlRequest& request);
  uint8_t* lend(size_t bytes);  // under mutex_, too
  bool await(const std::function<bool()>& isTrue) const;

  ControlRing& ring_;
  uint8_t* const bytes_;
  const std::function<void()> wake_;
  const std::function<bool()> isOver_;
  std::mutex mutex_;  // never held across a call of CUDA's
  uint64_t lentEnd_ = 0;
  uint64_t lentBegin_ = 0;
  std::deque<Lent> lent_;
};

}  // namespace dfccl::gpu
