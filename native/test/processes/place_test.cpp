// Ranks on several machines, which are make-believe, ask the C API which of them they are on.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "dfccl/dfccl.h"
#include "network/support/rendezvous_points.hpp"
#include "processes/support/expect.hpp"

using namespace dfccl::test;

namespace {

struct RankLocation {
  std::string machine;
  int localRank, localRanks, host;
};

/// Machines are numbered as their first ranks come, not as their ranks lie side by side.
const std::vector<RankLocation> kPlaces{{"b", 0, 2, 0}, {"a", 0, 1, 1}, {"b", 1, 2, 0}, {"c", 0, 1, 2}};

int ask(const std::string& job, const OwnPort& port, uint32_t number) {
  const RankLocation& place = kPlaces[number];
  const std::string ranks = std::to_string(kPlaces.size());
  setenv("DFCCL_RANK", std::to_string(number).c_str(), 1);
  setenv("DFCCL_WORLD_SIZE", ranks.c_str(), 1);
  setenv("DFCCL_JOB", job.c_str(), 1);
  setenv("DFCCL_ADDRESS", ("127.0.0.1:" + std::to_string(port.number())).c_str(), 1);
  setenv("DFCCL_HOST", place.machine.c_str(), 1);
  dfcclWorld_t world = nullptr;
  dfcclRankCtx_t ctx = nullptr;
  int rank = -1, count = -1, localRank = -1, localRanks = -1, host = -1, hosts = -1;
  EXPECT(dfcclJoinWorld(nullptr, &world, &rank) == dfcclSuccess);
  EXPECT(dfcclInitRank(world, rank, &ctx) == dfcclSuccess);
  EXPECT(dfcclGetRank(&rank, ctx) == dfcclSuccess && rank == static_cast<int>(number));
  EXPECT(dfcclGetRankCount(&count, ctx) == dfcclSuccess && count == static_cast<int>(kPlaces.size()));
  EXPECT(dfcclGetLocalRank(&localRank, ctx) == dfcclSuccess && localRank == place.localRank);
  EXPECT(dfcclGetLocalRankCount(&localRanks, ctx) == dfcclSuccess && localRanks == place.localRanks);
  EXPECT(dfcclGetHost(&host, ctx) == dfcclSuccess && host == place.host);
  EXPECT(dfcclGetHostCount(&hosts, ctx) == dfcclSuccess && hosts == 3);
  EXPECT(dfcclDestroy(ctx) == dfcclSuccess);
  EXPECT(dfcclGetRank(&rank, ctx) == dfcclClosed);
  EXPECT(dfcclWorldDestroy(world) == dfcclSuccess);
  return kFine;
}

}  // namespace

TEST_CASE("ranks of several machines know which is theirs, and which they are on it") {
  const OwnPort port;
  const std::string job = newJob();
  Processes processes(static_cast<uint32_t>(kPlaces.size()), [&](uint32_t rank) { return ask(job, port, rank); });
  for (uint32_t rank = 0; rank < kPlaces.size(); ++rank) CHECK(processes.join(rank) == kFine);
}

int main(int argc, char** argv) {
  if (!hasTransport()) return kSkipped;
  return doctest::Context(argc, argv).run();
}
