// Registration: arguments of C become a CollectiveSpec.
#include <cstring>
#include <string>

#include "base/own_operators.hpp"
#include "base/program.hpp"
#include "c_api/last_error.hpp"
#include "c_api/rank_context.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

namespace {

[[noreturn]] void refuse(int id, const char* field, const std::string& value, const std::string& allowed) {
  refuseArgument("Collective " + std::to_string(id) + ": " + field + " is " + value + ".", "Allowed: " + allowed + ".",
                 {{"id", std::to_string(id)}, {"field", field}, {"value", value}});
}

/// What all collectives have in common; checks what a CollectiveSpec has no room for.
CollectiveSpec describe(Collective collective, size_t count, dfcclDataType_t type, dfcclRedOp_t op, int root, int id,
                        dfcclDevSet_t devSet, int priority, const RankContext& context) {
  const auto check = [&](const char* field, int value, int most) {
    if (value < 0 || value > most) refuse(id, field, std::to_string(value), "0 to " + std::to_string(most));
  };
  check("collId", id, 0x7fffffff);
  check("type", static_cast<int>(type), kDataTypeCount - 1);
  if (!isOwnCode(op)) check("op", static_cast<int>(op), kReduceOpCount - 1);
  check("root", root, 0x7fffffff);
  CollectiveSpec spec;
  spec.id = static_cast<uint32_t>(id);
  spec.collective = collective;
  spec.type = static_cast<DataType>(type);
  spec.op = static_cast<ReduceOp>(op);
  spec.count = count;
  spec.root = static_cast<uint32_t>(root);
  spec.priority = priority;
  if (devSet.count < 0) refuse(id, "devSet.count", std::to_string(devSet.count), "0 (all ranks) or more");
  if (devSet.ranks == nullptr && devSet.count != 0)
    refuse(id, "devSet.ranks", "null", "devSet.count ranks, or dfcclAllRanks()");
  // Before they are read.
  if (static_cast<uint32_t>(devSet.count) > context.worldSize()) {
    refuse(id, "devSet.count", std::to_string(devSet.count),
           "0 (all ranks) to " + std::to_string(context.worldSize()) + ", as many as the world has");
  }
  if (devSet.count == 0) {
    for (uint32_t r = 0; r < context.worldSize(); ++r) spec.ranks.push_back(r);
  }
  for (int i = 0; i < devSet.count; ++i) {
    if (devSet.ranks[i] < 0) refuse(id, "devSet", "naming rank " + std::to_string(devSet.ranks[i]), "0 or more");
    spec.ranks.push_back(static_cast<uint32_t>(devSet.ranks[i]));
  }
  return spec;
}

dfcclResult_t add(Collective collective, size_t count, dfcclDataType_t type, dfcclRedOp_t op, int root, int id,
                  dfcclDevSet_t devSet, int priority, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext& context = contextOf(ctx);
    CollectiveSpec spec = describe(collective, count, type, op, root, id, devSet, priority, context);
    context.add(spec, false);
    return dfcclSuccess;
  });
}

}  // namespace

extern "C" {

dfcclResult_t dfcclRegisterAllReduce(size_t count, dfcclDataType_t type, dfcclRedOp_t op, int collId,
                                     dfcclDevSet_t devSet, int priority, dfcclRankCtx_t ctx) {
  return add(Collective::allReduce, count, type, op, 0, collId, devSet, priority, ctx);
}

dfcclResult_t dfcclRegisterAllGather(size_t count, dfcclDataType_t type, int collId, dfcclDevSet_t devSet, int priority,
                                     dfcclRankCtx_t ctx) {
  return add(Collective::allGather, count, type, dfcclSum, 0, collId, devSet, priority, ctx);
}

dfcclResult_t dfcclRegisterReduceScatter(size_t count, dfcclDataType_t type, dfcclRedOp_t op, int collId,
                                         dfcclDevSet_t devSet, int priority, dfcclRankCtx_t ctx) {
  return add(Collective::reduceScatter, count, type, op, 0, collId, devSet, priority, ctx);
}

dfcclResult_t dfcclRegisterReduce(size_t count, dfcclDataType_t type, dfcclRedOp_t op, int root, int collId,
                                  dfcclDevSet_t devSet, int priority, dfcclRankCtx_t ctx) {
  return add(Collective::reduce, count, type, op, root, collId, devSet, priority, ctx);
}

dfcclResult_t dfcclRegisterBroadcast(size_t count, dfcclDataType_t type, int root, int collId, dfcclDevSet_t devSet,
                                     int priority, dfcclRankCtx_t ctx) {
  return add(Collective::broadcast, count, type, dfcclSum, root, collId, devSet, priority, ctx);
}

dfcclResult_t dfcclRegisterAllToAll(size_t count, dfcclDataType_t type, int collId, dfcclDevSet_t devSet, int priority,
                                    dfcclRankCtx_t ctx) {
  return add(Collective::allToAll, count, type, dfcclSum, 0, collId, devSet, priority, ctx);
}

dfcclResult_t dfcclRegisterGather(size_t count, dfcclDataType_t type, int root, int collId, dfcclDevSet_t devSet,
                                  int priority, dfcclRankCtx_t ctx) {
  return add(Collective::gather, count, type, dfcclSum, root, collId, devSet, priority, ctx);
}

dfcclResult_t dfcclRegisterScatter(size_t count, dfcclDataType_t type, int root, int collId, dfcclDevSet_t devSet,
                                   int priority, dfcclRankCtx_t ctx) {
  return add(Collective::scatter, count, type, dfcclSum, root, collId, devSet, priority, ctx);
}

dfcclResult_t dfcclRegisterSendRecv(size_t count, dfcclDataType_t type, int sender, int collId, dfcclDevSet_t devSet,
                                    int priority, dfcclRankCtx_t ctx) {
  return add(Collective::sendRecv, count, type, dfcclSum, sender, collId, devSet, priority, ctx);
}

dfcclResult_t dfcclRegisterBarrier(int collId, dfcclDevSet_t devSet, int priority, dfcclRankCtx_t ctx) {
  return add(Collective::barrier, 0, dfcclUint8, dfcclSum, 0, collId, devSet, priority, ctx);
}

dfcclResult_t dfcclRegisterProgram(const void* program, size_t programBytes, size_t count, dfcclDataType_t type,
                                   dfcclRedOp_t op, int collId, dfcclDevSet_t devSet, int priority,
                                   dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext& context = contextOf(ctx);
    ProgramHeader header{};
    constexpr size_t kMostProgramBytes = size_t{1} << 30;  // more than any program that can be checked
    if (program == nullptr || programBytes < sizeof header || programBytes > kMostProgramBytes) {
      throw Error(dfcclInvalidProgram,
                  "Collective " + std::to_string(collId) + ": the program has " +
                      (program == nullptr ? "no address." : std::to_string(programBytes) + " bytes."),
                  "Pass the bytes that encodeProgram() of @dfccl/primitives gives for this rank.",
                  {{"id", std::to_string(collId)}});
    }
    std::memcpy(&header, program, sizeof header);
    // Before more is read: a size that isn't the program's may lead beyond the caller's memory.
    const bool isProgram = header.magic == kProgramMagic;
    if (!isProgram || header.totalBytes != programBytes) {
      throw Error(dfcclInvalidProgram,
                  "Collective " + std::to_string(collId) + ": the program " +
                      (isProgram ? "says that it has " + std::to_string(header.totalBytes) + " bytes, and " +
                                       std::to_string(programBytes) + " were passed."
                                 : "doesn't begin with DFCP."),
                  "Pass the bytes that encodeProgram() of @dfccl/primitives gives for this rank.",
                  {{"id", std::to_string(collId)}});
    }
    if (header.collective >= static_cast<uint32_t>(kCollectiveCount))
      refuse(collId, "the program's collective", std::to_string(header.collective), "0 to 10");
    const auto collective = static_cast<Collective>(header.collective);
    const int root = hasRoot(collective) && header.root <= 0x7fffffff ? static_cast<int>(header.root) : 0;
    CollectiveSpec spec = describe(collective, count, type, op, root, collId, devSet, priority, context);
    const auto* bytes = static_cast<const uint8_t*>(program);
    spec.program.assign(bytes, bytes + programBytes);
    context.add(spec, true);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclSetScale(double scale, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext& context = contextOf(ctx);
    if (scale != scale) refuseArgument("The scale is not a number.", "Pass a number; 1 changes nothing.");
    context.setScale(scale);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclUnregister(int collId, dfcclRankCtx_t ctx) {
  return guarded([&] {
    contextOf(ctx).remove(collId);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclAbort(int collId, dfcclRankCtx_t ctx) {
  return guarded([&] {
    contextOf(ctx).abort(collId);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclIsQuarantineOver(int collId, int* isOver, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext& context = contextOf(ctx);
    if (isOver == nullptr) refuseArgument("The address for the answer is null.", "Pass where to store it.");
    *isOver = context.backend().isQuarantineOver(context.number(), context.get(collId).index) ? 1 : 0;
    return dfcclSuccess;
  });
}
}
