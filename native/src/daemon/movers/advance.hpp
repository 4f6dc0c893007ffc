#pragma once
// What a turn of a task comes to, and the turn of a run that brings its count, which is compiled apart.
#include <cstdint>

#include "daemon/lifecycle/outcome.hpp"
#include "daemon/state/records.hpp"

namespace dfccl {

/// What a turn came to. By value, because what a function writes through a reference lies in memory.
struct Advance {
  Outcome outcome;
  bool progressed;
  int64_t budgetLeft;
};

/// What Interpreter<P>::advance does of a run that brings its count. Defined in run_with_count.hpp, which a platform
/// with such runs has in a file of its own: with two interpreters beside each other the compiler inlines neither as
/// well as one, and a small run takes 5 % longer.
template <class P>
DFCCL_RARE Advance advanceRunWithCount(P& platform, const CollectiveRecord& collective, const CollectiveRecord& view,
                                       const RunAddresses& run, RunRecord& record, uint32_t programBlock,
                                       DynamicContext& context, int64_t budgetBytes);

}  // namespace dfccl
