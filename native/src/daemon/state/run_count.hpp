#pragma once
// How many program blocks of a rank are done with a run. The one that counts last tells the host, on behalf of all:
// what every block wrote comes before its count, so it comes before the completion.
#include <cstdint>

#include "base/atomics.hpp"

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

/// It belongs to a completion slot and only grows, from one run to the next: so nobody has to set it back before the
/// blocks hear of a run, which would have to be ordered before they do.
template <class Orders>
struct BasicRunCount {
  Atomic<uint32_t, Scope::device> done;     // parts, of all runs ever; wraps
  Atomic<uint64_t, Scope::device> aborted;  // which run was given up by some block, or 0

  /// The run that ends when `done` says `partsAtEnd`.
  DFCCL_HD static constexpr uint64_t markOf(uint32_t partsAtEnd) { return uint64_t{1} << 32 | partsAtEnd; }
  /// What the leader adds to `partsAtEnd` for a run of `total` parts: a single part has a single block that counts,
  /// once, so nothing is counted.
  DFCCL_HD static constexpr uint32_t counted(uint32_t total) { return total == 1 ? 0 : total; }

  /// Counts `parts` program blocks of `total`, done, or given up because the id was aborted.
  /// @param partsAtEnd of this run: that of the run before in this slot, plus counted(total).
  DFCCL_HD RunProgress count(uint32_t parts, uint32_t total, uint32_t partsAtEnd, bool isAborted = false) {
    if (total == 1) return isAborted ? RunProgress::aborted : RunProgress::finished;
    if (isAborted) aborted.store(markOf(partsAtEnd), order::relaxed);
    if (done.fetchAdd(parts, Orders::count) + parts != partsAtEnd) return RunProgress::blocksLeft;
    if (aborted.load(order::relaxed) != markOf(partsAtEnd)) return RunProgress::finished;
    // Once the count has wrapped, the same sum comes again.
    aborted.store(0, order::relaxed);
    return RunProgress::aborted;
  }
};

using RunCount = BasicRunCount<RunCountOrders>;

}  // namespace dfccl
