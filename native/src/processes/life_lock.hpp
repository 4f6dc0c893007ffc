#pragma once
// A lock on one byte of a file that ends with the process: how others see, at once and for certain, that it is gone.
//
// The system ties it to an open description, not to a process. A child that is forked has that description too, and
// would keep the lock for as long as it lives; so it gives its part of it up before anything else runs in it.
#include <cstdint>

namespace dfccl {

class LifeLock {
 public:
  LifeLock() = default;
  ~LifeLock() { release(); }
  LifeLock(const LifeLock&) = delete;
  LifeLock& operator=(const LifeLock&) = delete;

  /// @param file a descriptor of it; the lock has one of its own. @throws Error dfcclSystemError
  void hold(int file, uint32_t byte);
  /// Not in a process that was forked from the one that holds it.
  bool isHeld() const { return descriptor_ >= 0; }
  void release();
  /// Whether nobody holds another byte of the same file. @return false where this lock isn't held: it can't be told.
  bool isOver(uint32_t byte) const;

 private:
  static void lockAll();
  static void unlockAll();
  static void leaveToParent();

  int descriptor_ = -1;
  LifeLock* next_ = nullptr;  // of those that this process holds
};

}  // namespace dfccl
