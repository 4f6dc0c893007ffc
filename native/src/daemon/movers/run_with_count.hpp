#pragma once
#include "daemon/movers/interpreter.hpp"

namespace dfccl {

template <class P>
Advance advanceRunWithCount(P& platform, const CollectiveRecord& collective, const CollectiveRecord& view,
                            const RunAddresses& run, RunRecord& record, uint32_t programBlock, DynamicContext& context,
                            int64_t budgetBytes) {
  Advance made{Outcome::stuck, false, budgetBytes};
  Interpreter<P, true> interpreter(platform, collective, view, run, record, programBlock, context);
  made.outcome = interpreter.advance(made.budgetLeft, made.progressed);
  return made;
}

}  // namespace dfccl
