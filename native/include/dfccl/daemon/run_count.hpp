#pragma once
// How many program blocks of a rank are done with a run. The one that counts last tells the host, on behalf of all:
// what every block wrote comes before its count, so it comes before the completion.
#include <cstdint>

#include "dfccl/atomics.hpp"

namespace dfccl {

struct RunCountOrders {
  // Releases this block's data and acquires that of the blocks before it. At device scope on a GPU.
  static constexpr Order count = order::acqRel;
};

template <class Orders>
struct BasicRunCount {
  Atomic<uint32_t> done;

  /// @pre No block has a part of the run yet.
  void reset() { done.store(0, order::relaxed); }
  /// Counts `parts` program blocks of `total`. @return whether these were the last. Where they were not, the run may be
  /// over, and everything of it gone, before this returns.
  bool isLast(uint32_t parts, uint32_t total) { return done.fetchAdd(parts, Orders::count) + parts >= total; }
};

using RunCount = BasicRunCount<RunCountOrders>;

}  // namespace dfccl
