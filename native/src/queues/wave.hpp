#pragma once
// Starts N threads and collects them, over and over, without a lock: a control word that alternates between 0 and 1
// starts a round, a counter collects it. Each thread waits for the value that the control word doesn't have yet, so the
// word never has to be reset between rounds.
//
//   control      0 -> 1 ............................ -> 0 .........
//   counter      0       1   2   3 = N: collected    0      1 ...
//                start                               start
//
// The slides' code adds to the control word in place of the counter and never resets the counter; this is what their
// pictures of the states show. WavePadded replaces the counter by a word a thread: no contention on one line, N lines
// to look at.
#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl {

struct WaveOrders {
  static constexpr Order start = order::release;    // R1 -> A1: whoever sees the round start sees its input
  static constexpr Order await = order::acquire;    // A1
  static constexpr Order finish = order::release;   // R2 -> A2: whoever has collected all sees their results
  static constexpr Order collect = order::acquire;  // A2
};

/// One counter.
struct Wave {
  alignas(64) Atomic<uint32_t> control;  // 0 or 1; the caller
  alignas(64) Atomic<uint32_t> counter;  // workers that finished this round
};

template <class Orders = WaveOrders>
class WaveCaller {
 public:
  /// @pre The wave is new, or the last round was collected.
  WaveCaller(Wave& wave, uint32_t workerCount)
      : wave_(wave), workerCount_(workerCount), control_(wave.control.load(order::relaxed)) {}

  /// Starts a round. @pre The last one was collected.
  void start() {
    wave_.counter.store(0, order::relaxed);  // a worker adds to it only after A1
    control_ ^= 1;
    wave_.control.store(control_, Orders::start);  // R1
  }

  /// True once every worker has finished this round.
  bool isCollected() { return wave_.counter.load(Orders::collect) == workerCount_; }  // A2

 private:
  Wave& wave_;
  uint32_t workerCount_;
  uint32_t control_;
};

template <class Orders = WaveOrders>
class WaveWorker {
 public:
  /// @param control The control word before the first round that this worker takes part in; 0 in a new wave. It is not
  /// read here, because by now that round may have started.
  explicit WaveWorker(Wave& wave, uint32_t control = 0) : wave_(wave), target_(control ^ 1) {}

  /// True once a round has started that this worker has not finished.
  bool isStarted() { return wave_.control.load(Orders::await) == target_; }  // A1

  /// @pre isStarted(); the work is done.
  void finish() {
    target_ ^= 1;
    wave_.counter.fetchAdd(1, Orders::finish);  // R2
  }

 private:
  Wave& wave_;
  uint32_t target_;
};

/// A word for each worker, a line apart.
struct alignas(64) WavePaddedWord {
  Atomic<uint32_t> value;
};

template <class Orders = WaveOrders>
class WavePaddedCaller {
 public:
  /// @param finished workerCount words.
  WavePaddedCaller(WavePaddedWord& control, WavePaddedWord* finished, uint32_t workerCount)
      : control_(control), finished_(finished), workerCount_(workerCount), round_(control.value.load(order::relaxed)) {}

  void start() {
    round_ ^= 1;
    collected_ = 0;
    control_.value.store(round_, Orders::start);  // R1
  }

  bool isCollected() {
    while (collected_ < workerCount_ && finished_[collected_].value.load(Orders::collect) == round_)
      ++collected_;  // A2
    return collected_ == workerCount_;
  }

 private:
  WavePaddedWord& control_;
  WavePaddedWord* finished_;
  uint32_t workerCount_;
  uint32_t round_;
  uint32_t collected_ = 0;
};

template <class Orders = WaveOrders>
class WavePaddedWorker {
 public:
  /// @param finished This worker's word. For `initial` see WaveWorker.
  WavePaddedWorker(WavePaddedWord& control, WavePaddedWord& finished, uint32_t initial = 0)
      : control_(control), finished_(finished), target_(initial ^ 1) {}

  bool isStarted() { return control_.value.load(Orders::await) == target_; }  // A1

  void finish() {
    finished_.value.store(target_, Orders::finish);  // R2
    target_ ^= 1;
  }

 private:
  WavePaddedWord& control_;
  WavePaddedWord& finished_;
  uint32_t target_;
};

}  // namespace dfccl
