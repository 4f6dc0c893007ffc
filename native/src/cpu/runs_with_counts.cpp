// Runs that bring their counts, apart from all others: see interpreter.hpp.
#include "cpu/cpu_platform.hpp"
#include "daemon/movers/run_with_count.hpp"

namespace dfccl {

template Advance advanceRunWithCount(CpuPlatform<>&, const CollectiveRecord&, const CollectiveRecord&,
                                     const RunAddresses&, RunRecord&, uint32_t, DynamicContext&, int64_t);

}  // namespace dfccl
