// Worlds whose ranks are processes.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "c_api/last_error.hpp"
#include "c_api/rank_context.hpp"
#include "c_api/waiting.hpp"
#include "opening/join.hpp"
#include "opening/launch.hpp"
#include "world/refusals.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

namespace {

constexpr uint32_t kJoinMillis = 60'000;
constexpr uint32_t kMuteMillis = 10'000;

dfcclJoinConfig_t readJoinConfig(const dfcclJoinConfig_t* config) {
  dfcclJoinConfig_t c = DFCCL_JOIN_CONFIG_INIT;
  if (config == nullptr) return c;
  // Of programs that were built before ranks of several machines could meet by it.
  constexpr size_t kWithoutAddress = offsetof(dfcclJoinConfig_t, address);
  if (config->structSize != sizeof c && config->structSize != kWithoutAddress) {
    refuseArgument("The config's structSize is " + std::to_string(config->structSize) + ".",
                   "Begin with DFCCL_JOIN_CONFIG_INIT.", {{"field", "structSize"}});
  }
  // What lies behind it are this config's own fields.
  if (config->world.structSize > sizeof c.world) {
    refuseArgument("The config's world.structSize is " + std::to_string(config->world.structSize) + ".",
                   "Begin with DFCCL_JOIN_CONFIG_INIT.", {{"field", "world.structSize"}});
  }
  std::memcpy(&c, config, config->structSize);
  return c;
}

std::optional<RendezvousPoint> pointOf(const dfcclJoinConfig_t& c, const Environment& environment) {
  if (c.address == nullptr) return std::nullopt;
  RendezvousPoint point = readAddress(c.address);
  point.secret = c.secret != nullptr ? c.secret : readSecret(environment);
  if (c.host != nullptr) point.hostName = c.host;
  return point;
}

void checkRankList(const int* ranks, int capacity, const int* count) {
  if (count == nullptr || (ranks == nullptr && capacity > 0)) {
    refuseArgument("An address for the ranks is null.", "Pass where to store them.");
  }
  if (capacity < 0) {
    refuseArgument("The capacity for ranks is " + std::to_string(capacity) + ".", "Allowed: 0 or more.",
                   {{"field", "capacity"}});
  }
}

void giveRanks(const std::vector<uint32_t>& list, int* ranks, int capacity, int* count) {
  *count = static_cast<int>(list.size());
  for (int i = 0; i < capacity && i < *count; ++i) ranks[i] = static_cast<int>(list[static_cast<size_t>(i)]);
}

}  // namespace

extern "C" {

dfcclResult_t dfcclJoinWorld(const dfcclJoinConfig_t* config, dfcclWorld_t* world, int* rank) {
  return guarded([&] {
    if (world == nullptr) refuseArgument("The address for the new world is null.", "Pass where to store it.");
    *world = nullptr;
    dfcclJoinConfig_t c = readJoinConfig(config);
    std::string job;
    std::optional<RendezvousPoint> point;
    const Environment environment = [](const char* name) { return std::getenv(name); };
    if (c.job == nullptr) {
      const Launch launch = readLaunch(environment);
      if (!launch.address.empty()) {
        point = readAddress(launch.address);
        point->secret = readSecret(environment);
        point->hostName = launch.hostName;
      }
      job = launch.job;
      if (c.world.ranks != 0 && c.world.ranks != launch.size) {
        refuseArgument("The config has " + std::to_string(c.world.ranks) + " ranks, and the launcher tells of " +
                           std::to_string(launch.size) + ".",
                       "Leave world.ranks at 0 where the launcher tells, or start as many processes.",
                       {{"field", "world.ranks"}, {"value", std::to_string(c.world.ranks)}});
      }
      c.rank = static_cast<int>(launch.rank);
      c.world.ranks = launch.size;
    } else {
      job = c.job;
      point = pointOf(c, environment);
    }
    if (c.rank < 0)
      refuseArgument("Rank is " + std::to_string(c.rank) + ".", "Ranks count from 0.", {{"field", "rank"}});
    WorldOptions options = readConfig(&c.world, point ? Span::machines : Span::machine);
    options.muteMillis = c.muteMillis == 0 ? kMuteMillis : c.muteMillis;
    join(options, job, static_cast<uint32_t>(c.rank), c.timeoutMillis == 0 ? kJoinMillis : c.timeoutMillis, nullptr,
         point ? &*point : nullptr);
    auto made = std::make_unique<std::shared_ptr<OpenWorld>>(std::make_shared<OpenWorld>(options));
    const char* const prefix = std::getenv("DFCCL_FLIGHT_RECORD");
    if (prefix != nullptr && *prefix != '\0') (*made)->recordFlights(prefix);
    *world = static_cast<dfcclWorld_t>(worlds().insert(std::move(made)));
    if (rank != nullptr) *rank = c.rank;
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclAllocate(size_t bytes, void** memory, dfcclRankCtx_t ctx) {
  return guarded([&] {
    if (memory == nullptr) refuseArgument("The address for the memory is null.", "Pass where to store it.");
    *memory = nullptr;
    RankContext& context = contextOf(ctx);
    checkAllocation(bytes);
    *memory = context.openWorld().allocate(context.number(), bytes);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclFree(void* memory, size_t bytes, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext& context = contextOf(ctx);
    checkAllocation(bytes);
    if (memory != nullptr) context.openWorld().free(context.number(), memory, bytes);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclGetLostRanks(int* ranks, int capacity, int* count, dfcclRankCtx_t ctx) {
  return guarded([&] {
    checkRankList(ranks, capacity, count);
    std::vector<uint32_t> lost;
    for (const LostRank& one : contextOf(ctx).backend().lostRanks()) lost.push_back(one.rank);
    giveRanks(lost, ranks, capacity, count);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclAgreeOnSurvivors(uint64_t timeoutMicros, int* ranks, int capacity, int* count, dfcclRankCtx_t ctx) {
  return guarded([&] {
    checkRankList(ranks, capacity, count);
    giveRanks(agreeOnSurvivors(contextOf(ctx), timeoutMicros), ranks, capacity, count);
    return dfcclSuccess;
  });
}
}
