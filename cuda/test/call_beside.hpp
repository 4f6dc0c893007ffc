#pragma once
// A call on a thread of its own that is seen to return, or not to.
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace dfccl::gpu::test {

/// Until a condition holds. @return false: it hasn't come to hold for so long that it never will.
inline bool comesToHold(const std::function<bool()>& condition,
                        std::chrono::milliseconds limit = std::chrono::seconds(20)) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

class CallBeside {
 public:
  explicit CallBeside(std::function<void()> call)
      : thread_([this, call = std::move(call)] {
          call();
          hasReturned_ = true;
        }) {}
  ~CallBeside() { thread_.join(); }
  CallBeside(const CallBeside&) = delete;
  CallBeside& operator=(const CallBeside&) = delete;

  bool hasReturned() const { return hasReturned_; }
  bool returns() const {
    return comesToHold([this] { return hasReturned(); });
  }

 private:
  std::atomic<bool> hasReturned_{false};
  std::thread thread_;
};

}  // namespace dfccl::gpu::test
