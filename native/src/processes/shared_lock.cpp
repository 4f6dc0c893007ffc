#include "processes/shared_lock.hpp"

#include <time.h>

#include <cerrno>
#include <chrono>
#include <string>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

#include "base/error.hpp"

namespace dfccl {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kLimit(10);
// A waiter looks at the lock itself this often. Who unlocks it wakes one waiter; where that one dies before it runs,
// and another process has had the lock in the meantime, neither that process nor the kernel wakes the next: the lock
// is free, and the others sleep (shared_lock_test).
constexpr std::chrono::nanoseconds kLook = std::chrono::milliseconds(20);

#if defined(__SANITIZE_THREAD__)
// It takes a timed lock whose last holder died for one that was not had, and its unlocking for a mistake.
void noteInherited(pthread_mutex_t& mutex) {
  __tsan_mutex_pre_lock(&mutex, 0);
  __tsan_mutex_post_lock(&mutex, 0, 0);
}
#else
void noteInherited(pthread_mutex_t&) {}
#endif

timespec systemTimeIn(std::chrono::nanoseconds span) {
  constexpr long kSecond = 1'000'000'000;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const long nanos = now.tv_nsec + static_cast<long>(span.count());
  return {now.tv_sec + nanos / kSecond, nanos % kSecond};
}

}  // namespace

void SharedLock::init() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex_, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

SharedLock::Taken SharedLock::take(uint32_t rank) {
  const auto deadline = steady_clock::now() + kLimit;
  int result;
  do {
    const timespec until = systemTimeIn(kLook);
    result = pthread_mutex_timedlock(&mutex_, &until);
  } while (result == ETIMEDOUT && steady_clock::now() < deadline);
  if (result == EOWNERDEAD) noteInherited(mutex_);
  const Taken had = taken(result, rank);
  if (had != Taken::no) return had;
  const uint32_t holder = holder_.load(order::relaxed);
  const std::string who = holder == 0 ? "another rank" : "rank " + std::to_string(holder - 1);
  throw Error(dfcclTimeout,
              "The world's lock was not to be had for " + std::to_string(kLimit.count()) + " s: " + who + " holds it.",
              "That process is stopped; let it go on or end it.", {{"holder", std::to_string(holder)}});
}

SharedLock::Taken SharedLock::tryTake(uint32_t rank) { return taken(pthread_mutex_trylock(&mutex_), rank); }

SharedLock::Taken SharedLock::taken(int result, uint32_t rank) {
  if (result != 0 && result != EOWNERDEAD) return Taken::no;
  holder_.store(rank + 1, order::relaxed);
  return result == 0 ? Taken::asLeft : Taken::inherited;
}

void SharedLock::settled() { pthread_mutex_consistent(&mutex_); }

void SharedLock::giveBack() {
  holder_.store(0, order::relaxed);
  pthread_mutex_unlock(&mutex_);
}

}  // namespace dfccl
