// Where a rank is: among all ranks, among those of its machine, and on which machine.
#include <algorithm>
#include <string>
#include <vector>

#include "c_api/last_error.hpp"
#include "c_api/rank_context.hpp"
#include "network/network.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

namespace {

struct RankLocation {
  uint32_t rank, ranks;
  uint32_t localRank, localRanks;
  uint32_t host, hosts;
};

RankLocation placeOf(RankContext& context) {
  const WorldOptions& options = context.backend().options();
  const uint32_t rank = context.number(), ranks = context.worldSize();
  if (!options.network) return {rank, ranks, rank, ranks, 0, 1};
  const std::vector<uint32_t>& hostOf = options.network->hostOf;
  const uint32_t host = hostOf[rank];
  const auto own = hostOf.begin() + static_cast<std::ptrdiff_t>(rank);
  return {rank,
          ranks,
          static_cast<uint32_t>(std::count(hostOf.begin(), own, host)),
          static_cast<uint32_t>(std::count(hostOf.begin(), hostOf.end(), host)),
          host,
          *std::max_element(hostOf.begin(), hostOf.end()) + 1};
}

dfcclResult_t give(uint32_t RankLocation::*what, const char* name, int* out, dfcclRankCtx_t ctx) {
  return guarded([&] {
    if (out == nullptr) {
      refuseArgument(std::string("The address for the ") + name + " is null.", "Pass where to store it.");
    }
    *out = static_cast<int>(placeOf(contextOf(ctx)).*what);
    return dfcclSuccess;
  });
}

}  // namespace

extern "C" {

dfcclResult_t dfcclGetRank(int* rank, dfcclRankCtx_t ctx) { return give(&RankLocation::rank, "rank", rank, ctx); }

dfcclResult_t dfcclGetRankCount(int* count, dfcclRankCtx_t ctx) {
  return give(&RankLocation::ranks, "number of ranks", count, ctx);
}

dfcclResult_t dfcclGetLocalRank(int* localRank, dfcclRankCtx_t ctx) {
  return give(&RankLocation::localRank, "local rank", localRank, ctx);
}

dfcclResult_t dfcclGetLocalRankCount(int* count, dfcclRankCtx_t ctx) {
  return give(&RankLocation::localRanks, "number of local ranks", count, ctx);
}

dfcclResult_t dfcclGetHost(int* host, dfcclRankCtx_t ctx) { return give(&RankLocation::host, "host", host, ctx); }

dfcclResult_t dfcclGetHostCount(int* count, dfcclRankCtx_t ctx) {
  return give(&RankLocation::hosts, "number of hosts", count, ctx);
}
}
