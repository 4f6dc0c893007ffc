#include "c_api/last_error.hpp"
#include "c_api/rank_context.hpp"
#include "processes/record_flight.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

extern "C" {

dfcclResult_t dfcclWriteFlightRecord(const char* path, dfcclRankCtx_t ctx) {
  return guarded([&] {
    if (path == nullptr || *path == '\0') {
      refuseArgument("The path is null or empty.", "Pass a file's path.", {{"field", "path"}});
    }
    Segment* const segment = contextOf(ctx).backend().options().segment.get();
    if (segment == nullptr) {
      throw Error(dfcclUnavailable, "The ranks of this world are no processes, and have no flight records.",
                  "Join a world with dfcclJoinWorld; here dfcclWaitFor names the ranks that are missing.");
    }
    recordFlight(*segment, path);
    return dfcclSuccess;
  });
}
}
