#pragma once
// The lock of a block on a platform whose blocks are stepped by threads of the host. Never waited for: whoever finds it
// taken goes on to another block, so a holder that the system put aside delays nobody but its own block.
#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl {

struct TryLockOrders {
  static constexpr Order take = order::acquire;      // A1
  static constexpr Order giveBack = order::release;  // R1 -> A1: the next holder sees all that the last one did
};

template <class Orders>
class BasicTryLock {
 public:
  bool tryLock() { return taken_.load(order::relaxed) == 0 && taken_.exchange(1, Orders::take) == 0; }  // A1
  void unlock() { taken_.store(0, Orders::giveBack); }                                                  // R1

 private:
  alignas(64) Atomic<uint32_t> taken_;
};

using TryLock = BasicTryLock<TryLockOrders>;

}  // namespace dfccl
