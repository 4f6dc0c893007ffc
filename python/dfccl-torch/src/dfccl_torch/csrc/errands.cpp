#include "errands.hpp"

#include <c10/util/Logging.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "per_process.hpp"

namespace dfccl_torch {
namespace {

class Errands {
 public:
  void push(std::function<void()> errand) {
    const std::lock_guard lock(mutex_);
    if (isOver_) {
      leak(std::move(errand));
      return;
    }
    if (!hasThread_) std::thread([this] { run(); }).detach();
    hasThread_ = true;
    waiting_.push_back(std::move(errand));
    changed_.notify_all();
  }

  bool end(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    isOver_ = true;
    changed_.notify_all();
    return changed_.wait_for(lock, limit, [&] { return !hasThread_; });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return isOver_ || !waiting_.empty(); });
      if (isOver_) break;
      std::function<void()> errand = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      try {
        errand();
      } catch (const std::exception& error) {
        LOG(ERROR) << "dfccl: what was to be done after a run has failed: " << error.what();
      }
      errand = nullptr;  // and with it the last reference to a tensor
      lock.lock();
    }
    for (auto& errand : waiting_) leak(std::move(errand));
    waiting_.clear();
    hasThread_ = false;
    changed_.notify_all();
  }

  /// What it holds is never given back: that might take Python's lock, which ends a thread that isn't Python's own
  /// while the interpreter ends.
  static void leak(std::function<void()> errand) { new std::function<void()>(std::move(errand)); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool hasThread_ = false;
  bool isOver_ = false;
};

PerProcess<Errands> errands;

}  // namespace

void runSoon(std::function<void()> errand) { errands.get().push(std::move(errand)); }

bool endErrands(std::chrono::milliseconds limit) { return errands.get().end(limit); }

}  // namespace dfccl_torch
