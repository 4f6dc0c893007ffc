// Worlds and ranks: made, opened, destroyed.
#include <string>

#include "c_api/last_error.hpp"
#include "c_api/rank_context.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

namespace {

dfcclRankCtx_t open(std::shared_ptr<OpenWorld> world, int rank) {
  if (rank < 0) {
    refuseArgument("Rank is " + std::to_string(rank) + ".", "Ranks count from 0.", {{"rank", std::to_string(rank)}});
  }
  auto context = std::make_unique<RankContext>(world, static_cast<uint32_t>(rank));
  RankContext& opened = *context;
  try {
    void* const handle = contexts().insert(std::move(context));
    opened.setHandle(handle);
    return static_cast<dfcclRankCtx_t>(handle);
  } catch (...) {
    world->close(static_cast<uint32_t>(rank));
    throw;
  }
}

template <class Handle>
void checkOut(Handle* out, const char* name) {
  if (out == nullptr) {
    refuseArgument(std::string("The address for the new ") + name + " is null.", "Pass where to store it.");
  }
  *out = nullptr;
}

OpenWorld& worldOf(dfcclWorld_t world) {
  std::shared_ptr<OpenWorld>* found = worlds().find(world);
  if (found != nullptr) return **found;
  if (world == nullptr) refuseArgument("The world is null.", "Pass one that dfcclWorldCreate has made.");
  throw Error(dfcclClosed, "The world has been destroyed, or was never made.",
              "Pass one that dfcclWorldCreate has made.");
}

}  // namespace

extern "C" {

dfcclResult_t dfcclWorldCreate(const dfcclWorldConfig_t* config, dfcclWorld_t* world) {
  return guarded([&] {
    checkOut(world, "world");
    auto made =
        std::make_unique<std::shared_ptr<OpenWorld>>(std::make_shared<OpenWorld>(readConfig(config, Span::process)));
    *world = static_cast<dfcclWorld_t>(worlds().insert(std::move(made)));
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclWorldDestroy(dfcclWorld_t world) {
  return guarded([&] {
    if (world == nullptr) return dfcclSuccess;
    if (const uint32_t open = worldOf(world).openRanks(); open != 0) {
      throw Error(dfcclInUse, std::to_string(open) + " ranks of the world are open.", "Destroy their contexts first.",
                  {{"open", std::to_string(open)}});
    }
    worlds().remove(world);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclInit(dfcclRankCtx_t* ctx, int rank) {
  return guarded([&] {
    checkOut(ctx, "context");
    *ctx = open(defaultWorld(), rank);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclInitRank(dfcclWorld_t world, int rank, dfcclRankCtx_t* ctx) {
  return guarded([&] {
    checkOut(ctx, "context");
    worldOf(world);
    *ctx = open(*worlds().find(world), rank);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclGetDevice(int* device, dfcclRankCtx_t ctx) {
  return guarded([&] {
    if (device == nullptr) refuseArgument("The address for the device is null.", "Pass where to store it.");
    RankContext& context = contextOf(ctx);
    *device = context.backend().deviceOf(context.number());
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclDestroy(dfcclRankCtx_t ctx) {
  return guarded([&] {
    if (ctx == nullptr) return dfcclSuccess;
    contextOf(ctx).close();
    contexts().remove(ctx);
    return dfcclSuccess;
  });
}
}
