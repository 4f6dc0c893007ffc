// Collectives whose runs bring their counts.
#include <algorithm>
#include <string>

#include "c_api/last_error.hpp"
#include "c_api/rank_context.hpp"
#include "c_api/submitting.hpp"
#include "world/submitting.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

namespace {

[[gnu::cold, gnu::noinline]] dfcclResult_t refuseCount(const Registration& registration, size_t count, int id) {
  return guarded([&]() -> dfcclResult_t {
    const std::string number = std::to_string(id);
    if (!registration.hasCountPerRun) {
      refuseArgument("Collective " + number + " has one count for all its runs.",
                     "Call dfcclRun, or register it after dfcclSetCountPerRun(1, ctx).",
                     {{"id", number}, {"count", std::to_string(count)}});
    }
    refuseArgument("Collective " + number + ": a run has count " + std::to_string(count) +
                       ", and was registered for at most " + std::to_string(registration.count) + ".",
                   "Pass no more, or register it with the largest count that its runs will have.",
                   {{"id", number}, {"count", std::to_string(count)}, {"most", std::to_string(registration.count)}});
  });
}

[[gnu::cold, gnu::noinline]] dfcclResult_t refuseBuffers(RankContext& context, const Registration& registration,
                                                         const RunShape& shape, const void* send, const void* recv) {
  return guarded([&] {
    const CollectiveSpec spec = context.backend().specOf(context.number(), registration.index);
    checkRun(shape, spec, context.number(), send, recv);
    return dfcclSuccess;
  });
}

}  // namespace

extern "C" {

dfcclResult_t dfcclSetCountPerRun(int isOn, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext& context = contextOf(ctx);
    if (isOn != 0 && isOn != 1) {
      refuseArgument("isOn is " + std::to_string(isOn) + ".", "Pass 1 for counts with each run, or 0.",
                     {{"field", "isOn"}, {"value", std::to_string(isOn)}});
    }
    context.setCountPerRun(isOn == 1);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclRunCount(const void* sendbuff, void* recvbuff, size_t count, int collId, dfcclCallback_t callback,
                            void* callbackArgs, dfcclRankCtx_t ctx) {
  RankContext* context = contexts().find(ctx);
  const Registration* registration = context == nullptr ? nullptr : context->find(collId);
  if (registration == nullptr) [[unlikely]]
    return guarded([&] { return (static_cast<void>(contextOf(ctx).get(collId)), dfcclSuccess); });
  if (!registration->hasCountPerRun || count > registration->count) [[unlikely]]
    return refuseCount(*registration, count, collId);
  const RunShape shape = shapeAt(registration->shapeOfOne, count);
  if (!isAllowed(shape, sendbuff, recvbuff)) [[unlikely]]
    return refuseBuffers(*context, *registration, shape, sendbuff, recvbuff);
  return submitRun(*context, *registration, sendbuff, recvbuff, callback, callbackArgs, {}, count);
}

dfcclResult_t dfcclGetMismatchedCounts(size_t* counts, int capacity, int* count, int collId, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext& context = contextOf(ctx);
    if (count == nullptr) refuseArgument("The address for the number is null.", "Pass where to store it.");
    if (capacity < 0 || (counts == nullptr && capacity != 0)) {
      refuseArgument("The array for the counts is null, or has room for " + std::to_string(capacity) + ".",
                     "Pass an array, and how many it has room for.");
    }
    const std::vector<uint64_t> members =
        context.backend().mismatchedCounts(context.number(), context.get(collId).index);
    *count = static_cast<int>(members.size());
    std::copy_n(members.begin(), std::min<size_t>(members.size(), static_cast<size_t>(capacity)), counts);
    return dfcclSuccess;
  });
}
}
