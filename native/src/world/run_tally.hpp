#pragma once
// Which runs of a rank the caller still has to hear of: issued, and not yet delivered. A callback may issue the next
// run, so both numbers can move between two looks.
#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl {

struct RunTallyOrders {
  static constexpr Order deliver = order::release;
  static constexpr Order look = order::acquire;
};

template <class Orders>
class BasicRunTally {
 public:
  /// Under the submission queue's lock, before the run can complete.
  void noteIssued() { issued_.store(issued_.load(order::relaxed) + 1, order::relaxed); }
  /// After the callbacks of `runs` have returned.
  void noteDelivered(uint64_t runs) { delivered_.fetchAdd(runs, Orders::deliver); }

  /// Runs that are queued, or whose callback has not returned yet; 0 only if there was a moment without any.
  uint64_t inFlight() const {
    // In this order: what the callbacks of those delivered have issued is counted too.
    const uint64_t delivered = delivered_.load(Orders::look);
    return issued_.load(order::relaxed) - delivered;
  }

 private:
  Atomic<uint64_t> issued_;
  Atomic<uint64_t> delivered_;
};

using RunTally = BasicRunTally<RunTallyOrders>;

}  // namespace dfccl
