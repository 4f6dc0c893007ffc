#include "deadlines.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "per_process.hpp"

namespace dfccl_torch {
namespace {

class Deadlines {
 public:
  uint64_t add(Clock::time_point time, std::function<void()> act) {
    const std::lock_guard lock(mutex_);
    const uint64_t number = ++last_;
    const auto added = waiting_.emplace(std::pair(time, number), std::move(act)).first;
    if (!hasThread_) std::thread([this] { run(); }).detach();
    hasThread_ = true;
    if (added == waiting_.begin()) changed_.notify_one();  // else the thread looks soon enough
    return number;
  }

  void remove(Clock::time_point time, uint64_t number) {
    const std::lock_guard lock(mutex_);
    waiting_.erase({time, number});
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      if (waiting_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const auto first = waiting_.begin();
      if (const Clock::time_point time = first->first.first; Clock::now() < time) {
        changed_.wait_until(lock, time);
        continue;
      }
      std::function<void()> act = std::move(first->second);
      waiting_.erase(first);
      lock.unlock();
      act();
      act = nullptr;  // with which a work may go
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<Clock::time_point, uint64_t>, std::function<void()>> waiting_;
  uint64_t last_ = 0;
  bool hasThread_ = false;
};

PerProcess<Deadlines> deadlines;

}  // namespace

Clock::time_point timeIn(std::chrono::milliseconds fromNow) {
  constexpr auto kFarAway = std::chrono::hours(24 * 365 * 10);
  return Clock::now() + std::min<std::chrono::milliseconds>(fromNow, kFarAway);
}

std::optional<Clock::time_point> endOf(std::chrono::milliseconds limit) {
  return limit.count() > 0 ? std::optional(timeIn(limit)) : std::nullopt;
}

Deadline::Deadline(std::chrono::milliseconds fromNow, std::function<void()> act)
    : time_(timeIn(fromNow)), number_(deadlines.get().add(time_, std::move(act))) {}

Deadline::~Deadline() { deadlines.get().remove(time_, number_); }

}  // namespace dfccl_torch
