#include "processes/life_lock.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace dfccl {
namespace {

// No destructor runs at the process's end, when a thread may still fork.
std::mutex& allMutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}
LifeLock* all = nullptr;  // that are held, under the mutex

struct flock onByte(uint32_t byte) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

[[noreturn]] void refuse(const std::string& what, const std::string& remedy) {
  const int error = errno;
  throw Error(dfcclSystemError, what + ": " + std::strerror(error) + ".", remedy, {{"errno", std::to_string(error)}});
}

}  // namespace

void LifeLock::lockAll() { allMutex().lock(); }
void LifeLock::unlockAll() { allMutex().unlock(); }

void LifeLock::leaveToParent() {
  for (LifeLock* lock = std::exchange(all, nullptr); lock != nullptr; lock = lock->next_) {
    close(std::exchange(lock->descriptor_, -1));
  }
  unlockAll();
}

void LifeLock::hold(int file, uint32_t byte) {
  static const int registered = pthread_atfork(lockAll, unlockAll, leaveToParent);
  (void)registered;  // without it, a rank with forked children is gone only when they are
  // Between these lines no child is forked that would keep it.
  const std::lock_guard guard(allMutex());
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  descriptor_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor_ < 0) refuse("The world's memory can't be opened again", "Mount /proc.");
  next_ = std::exchange(all, this);
  struct flock lock = onByte(byte);
  if (fcntl(descriptor_, F_OFD_SETLK, &lock) != 0)
    refuse("The world's memory can't be locked", "Use Linux 3.15 or newer.");
}

void LifeLock::release() {
  const std::lock_guard guard(allMutex());
  if (descriptor_ < 0) return;
  LifeLock** at = &all;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
  close(std::exchange(descriptor_, -1));
}

bool LifeLock::isOver(uint32_t byte) const {
  struct flock lock = onByte(byte);
  return fcntl(descriptor_, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

}  // namespace dfccl
