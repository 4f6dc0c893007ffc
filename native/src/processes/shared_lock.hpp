#pragma once
// A lock of several processes, in memory that they share. A holder that dies leaves it to the next one.
#include <pthread.h>

#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl {

class SharedLock {
 public:
  enum class Taken {
    no,         // another has it
    asLeft,     // what it guards is as its last holder left it
    inherited,  // its last holder died: the books may be half written, and settled() is to be called
  };

  /// @pre the memory is zero. Once, by the process that makes the memory.
  void init();
  /// Waits for it. @param rank that takes it. @throws Error dfcclTimeout naming the rank that doesn't give it back
  Taken take(uint32_t rank);
  /// Only if it is to be had at once.
  Taken tryTake(uint32_t rank);
  /// What was inherited is whole again.
  void settled();
  void giveBack();

 private:
  Taken taken(int result, uint32_t rank);

  pthread_mutex_t mutex_;
  Atomic<uint32_t> holder_;  // rank that has it, plus one; for messages
};

}  // namespace dfccl
