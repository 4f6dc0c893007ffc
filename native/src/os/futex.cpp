#include "os/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace dfccl {

namespace {

void wait(int operation, uint32_t* word, uint32_t expected, uint64_t timeoutMicros) {
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(timeoutMicros / 1'000'000);
  timeout.tv_nsec = static_cast<long>(timeoutMicros % 1'000'000 * 1000);
  syscall(SYS_futex, word, operation, expected, timeoutMicros == 0 ? nullptr : &timeout, nullptr, 0);
}

}  // namespace

void futexWait(uint32_t* word, uint32_t expected, uint64_t timeoutMicros) {
  wait(FUTEX_WAIT_PRIVATE, word, expected, timeoutMicros);
}

void futexWakeAll(uint32_t* word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }

void sharedFutexWait(uint32_t* word, uint32_t expected, uint64_t timeoutMicros) {
  wait(FUTEX_WAIT, word, expected, timeoutMicros);
}

void sharedFutexWakeAll(uint32_t* word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace dfccl
