#include "host/driver/process_end.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/atomics.hpp"

namespace dfccl::gpu {
namespace {

// A call may wait until the device is idle, which it may never be.
constexpr int kMostPauses = 10'000;
constexpr std::chrono::microseconds kPause(100);

Atomic<uint32_t> hasCome;
Atomic<uint32_t> calls;

void come() {
  hasCome.store(1, order::seqCst);
  for (int i = 0; i < kMostPauses && calls.load(order::seqCst) != 0; ++i) std::this_thread::sleep_for(kPause);
}

}  // namespace

void ProcessEnd::watch() {
  static const bool isWatched = [] {
    // A forked child has none of the threads, but may have a copy of their count.
    static const pid_t process = getpid();
    return std::atexit([] {
             if (getpid() == process) come();
           }) == 0;
  }();
  static_cast<void>(isWatched);
}

bool ProcessEnd::isNear() { return hasCome.load(order::seqCst) != 0; }

ProcessEnd::Call::Call() {
  calls.fetchAdd(1, order::seqCst);
  isAllowed_ = !isNear();
}

ProcessEnd::Call::~Call() { calls.fetchSub(1, order::seqCst); }

}  // namespace dfccl::gpu
