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

/// What a block learns when it counts. Unless it was the last, the run may be over, and everything of it gone, before
/// the count returns.
enum class RunProgress : uint8_t {
  blocksLeft,  // some block is not done
  finished,    // this was the last block, and all did their part
  aborted,     // this was the last block, and some gave theirs up
};

template <class Orders>
struct BasicRunCount {
  static constexpr uint32_t kMaxParts = 0xffff;
  static constexpr uint32_t kAborted = kMaxParts + 1;  // added once for each block that gives up

  Atomic<uint32_t, Scope::device> done;  // low half: parts; high half: aborts

  /// @pre No block has a part of the run yet.
  DFCCL_HD void reset() { done.store(0, order::relaxed); }
  /// Counts `parts` program blocks of `total`, done, or given up because the id was aborted.
  DFCCL_HD RunProgress count(uint32_t parts, uint32_t total, bool isAborted = false) {
    const uint32_t added = parts + (isAborted ? kAborted : 0);
    // A run of a single part has a single block that counts, once.
    if (total == 1) return isAborted ? RunProgress::aborted : RunProgress::finished;
    const uint32_t sum = done.fetchAdd(added, Orders::count) + added;
    if ((sum & kMaxParts) < total) return RunProgress::blocksLeft;
    return sum > kMaxParts ? RunProgress::aborted : RunProgress::finished;
  }
};

using RunCount = BasicRunCount<RunCountOrders>;

}  // namespace dfccl
