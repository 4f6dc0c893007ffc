#pragma once
// The threads that do errands.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "errands.hpp"

namespace dfccl_torch {

struct ErrandPlace::Slot {
  ErrandOrder order;
  int line = 0;
  Errand errand;
  bool isFilled = false;
  bool isGone = false;  // passed already, or never to be filled
  std::chrono::steady_clock::time_point filledAt;
};

/// Lines of errands, each with a thread of its own: line 0 is for what is asked for elsewhere, each other one for what
/// the errands of the line before ask for.
class ErrandLines {
 public:
  using Slot = std::shared_ptr<ErrandPlace::Slot>;

  /// The line for what this thread asks for.
  static int lineHere();

  void push(Errand errand, int which);
  void take(const Slot& slot);
  void fill(const Slot& slot, Errand errand);
  void abandon(const Slot& slot);
  bool end(std::chrono::milliseconds limit);

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Order = std::deque<Slot>;
  struct Line {
    std::deque<Errand> waiting;
    std::condition_variable arrived;
    uint64_t begun = 0;   // errands, ever
    uint64_t seen = 0;    // of those, when the watch looked last
    uint64_t runner = 0;  // counts the threads that take errands: only the last does
    bool isBusy = false;  // that one has an errand under way
  };

  // All with the lock held.
  void add(Errand errand, int which);
  void pass(Order& order);
  void beginRunner(Line& line, int which);
  void beginWatch();
  void gone();
  bool lookAfter();

  void run(Line& line, int which, uint64_t runner);
  void watch();
  static void leak(Errand errand);

  std::mutex mutex_;
  std::condition_variable over_;  // and whenever a thread has ended
  std::map<int, Line> lines_;     // whose addresses stay
  std::map<ErrandOrder, Order> orders_;
  int threads_ = 0;
  bool isWatched_ = false;
  bool isOver_ = false;
};

}  // namespace dfccl_torch
