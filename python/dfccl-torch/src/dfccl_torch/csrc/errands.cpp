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
    if (!hasThread_) std::thread([this] { run(); }).detach();
    hasThread_ = true;
    waiting_.push_back(std::move(errand));
    arrived_.notify_one();
  }

 private:
  [[noreturn]] void run() {
    while (true) {
      std::function<void()> errand;
      {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [&] { return !waiting_.empty(); });
        errand = std::move(waiting_.front());
        waiting_.pop_front();
      }
      try {
        errand();
      } catch (const std::exception& error) {
        LOG(ERROR) << "dfccl: what was to be done after a run has failed: " << error.what();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> waiting_;
  bool hasThread_ = false;
};

PerProcess<Errands> errands;

}  // namespace

void runSoon(std::function<void()> errand) { errands.get().push(std::move(errand)); }

}  // namespace dfccl_torch
