// The hot path: a run is looked up, checked, queued.
#include <string>

#include "c_api/last_error.hpp"
#include "c_api/rank_context.hpp"
#include "c_api/submitting.hpp"
#include "world/submitting.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

namespace {

[[gnu::cold, gnu::noinline]] dfcclResult_t refuseRun(const void* send, const void* recv, int id, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext& context = contextOf(ctx);
    const Registration& registration = context.get(id);
    if (registration.takesAnyCount) {
      refuseArgument("Collective " + std::to_string(id) + " was registered for any count, and the run has none.",
                     "Call dfcclRunCount with the run's count.", {{"id", std::to_string(id)}});
    }
    const CollectiveSpec spec = context.backend().specOf(context.number(), registration.index);
    checkRun(registration.shape, spec, context.number(), send, recv);
    return dfcclSuccess;
  });
}

[[gnu::cold, gnu::noinline]] dfcclResult_t refuseKind(const Registration& registration, const char* wanted, int id) {
  return guarded([&]() -> dfcclResult_t {
    refuseArgument("Collective " + std::to_string(id) + " is " +
                       (registration.isOwnProgram ? "a program of your own" : nameOf(registration.collective)) +
                       ", not " + wanted + ".",
                   "Call the dfcclRun function of what it was registered as, or dfcclRun, which takes any.",
                   {{"id", std::to_string(id)}});
  });
}

[[gnu::cold, gnu::noinline]] dfcclResult_t ask(RankContext& context, const Registration& registration, const void* send,
                                               const void* recv) {
  return guarded([&] {
    askAboutMemory(context.backend(), context.number(), registration.index, registration.shape, registration.known,
                   send, recv);
    return dfcclSuccess;
  });
}

[[gnu::cold, gnu::noinline]] dfcclResult_t name(RankContext& context, const Registration& registration,
                                                const void*& send, void*& recv, RunWindows& windows) {
  return guarded([&] {
    windows = nameWindows(context.backend(), context.number(), registration.shape, send, recv);
    return dfcclSuccess;
  });
}

/// Whether a run may be queued with these buffers. Asks about memory that is not known yet.
/// @param windows of the buffers, where they have some, see nameWindows().
inline dfcclResult_t check(RankContext& context, const Registration& registration, const void*& send, void*& recv,
                           RunWindows& windows, int id, dfcclRankCtx_t ctx) {
  if (!isAllowed(registration.shape, send, recv)) [[unlikely]]
    return refuseRun(send, recv, id, ctx);
  if (context.checksMemory() && !registration.known.hold(registration.shape, send, recv)) [[unlikely]] {
    const dfcclResult_t result = ask(context, registration, send, recv);
    if (result != dfcclSuccess) return result;
  }
  if (registration.shape.namesWindows) [[unlikely]]
    return name(context, registration, send, recv, windows);
  return dfcclSuccess;
}

inline dfcclResult_t queue(RankContext& context, const Registration& registration, const void* send, void* recv, int id,
                           dfcclCallback_t callback, void* args, dfcclRankCtx_t ctx) {
  RunWindows windows;
  const dfcclResult_t result = check(context, registration, send, recv, windows, id, ctx);
  if (result != dfcclSuccess) [[unlikely]]
    return result;
  return submitRun(context, registration, send, recv, callback, args, windows, registration.count);
}

// What dfcclRun wants: whatever the id is.
constexpr auto kAny = static_cast<Collective>(0xff);

inline dfcclResult_t run(Collective wanted, const void* send, void* recv, int id, dfcclCallback_t callback, void* args,
                         dfcclRankCtx_t ctx) {
  RankContext* context = contexts().find(ctx);
  const Registration* registration = context == nullptr ? nullptr : context->find(id);
  if (registration == nullptr) [[unlikely]]
    return refuseRun(send, recv, id, ctx);
  if (wanted != kAny && wanted != registration->collective) [[unlikely]]
    return refuseKind(*registration, nameOf(wanted), id);
  return queue(*context, *registration, send, recv, id, callback, args, ctx);
}

}  // namespace

namespace dfccl::c_api {

[[gnu::cold, gnu::noinline]] dfcclResult_t refuseSlot(RankContext& context, uint32_t slot) noexcept {
  return guarded([&]() -> dfcclResult_t { refuseSubmission(context.backend(), context.number(), slot); });
}

}  // namespace dfccl::c_api

extern "C" {

dfcclResult_t dfcclRun(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback, void* callbackArgs,
                       dfcclRankCtx_t ctx) {
  return run(kAny, sendbuff, recvbuff, collId, callback, callbackArgs, ctx);
}

dfcclResult_t dfcclRunAllReduce(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                                void* callbackArgs, dfcclRankCtx_t ctx) {
  return run(Collective::allReduce, sendbuff, recvbuff, collId, callback, callbackArgs, ctx);
}

dfcclResult_t dfcclRunAllGather(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                                void* callbackArgs, dfcclRankCtx_t ctx) {
  return run(Collective::allGather, sendbuff, recvbuff, collId, callback, callbackArgs, ctx);
}

dfcclResult_t dfcclRunReduceScatter(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                                    void* callbackArgs, dfcclRankCtx_t ctx) {
  return run(Collective::reduceScatter, sendbuff, recvbuff, collId, callback, callbackArgs, ctx);
}

dfcclResult_t dfcclRunReduce(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                             void* callbackArgs, dfcclRankCtx_t ctx) {
  return run(Collective::reduce, sendbuff, recvbuff, collId, callback, callbackArgs, ctx);
}

dfcclResult_t dfcclRunBroadcast(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                                void* callbackArgs, dfcclRankCtx_t ctx) {
  return run(Collective::broadcast, sendbuff, recvbuff, collId, callback, callbackArgs, ctx);
}

dfcclResult_t dfcclRunAllToAll(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                               void* callbackArgs, dfcclRankCtx_t ctx) {
  return run(Collective::allToAll, sendbuff, recvbuff, collId, callback, callbackArgs, ctx);
}

dfcclResult_t dfcclRunGather(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                             void* callbackArgs, dfcclRankCtx_t ctx) {
  return run(Collective::gather, sendbuff, recvbuff, collId, callback, callbackArgs, ctx);
}

dfcclResult_t dfcclRunScatter(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                              void* callbackArgs, dfcclRankCtx_t ctx) {
  return run(Collective::scatter, sendbuff, recvbuff, collId, callback, callbackArgs, ctx);
}

dfcclResult_t dfcclRunSendRecv(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                               void* callbackArgs, dfcclRankCtx_t ctx) {
  return run(Collective::sendRecv, sendbuff, recvbuff, collId, callback, callbackArgs, ctx);
}

dfcclResult_t dfcclRunBarrier(int collId, dfcclCallback_t callback, void* callbackArgs, dfcclRankCtx_t ctx) {
  return run(Collective::barrier, nullptr, nullptr, collId, callback, callbackArgs, ctx);
}

dfcclResult_t dfcclRunOnStream(const void* sendbuff, void* recvbuff, int collId, dfcclStream_t stream,
                               dfcclCallback_t callback, void* callbackArgs, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext& context = contextOf(ctx);
    const Registration& registration = context.get(collId);
    if (const auto capture = context.backend().captureOf(context.number(), stream)) {
      if (callback != nullptr) {
        refuseArgument("A run that is captured is carried out whenever its graph is launched, and has no callback.",
                       "Pass none, and let the stream tell when it is over.", {{"id", std::to_string(collId)}});
      }
      context.capture(collId, *capture, sendbuff, recvbuff, stream);
      return dfcclSuccess;
    }
    RunWindows windows;
    const dfcclResult_t result = check(context, registration, sendbuff, recvbuff, windows, collId, ctx);
    if (result != dfcclSuccess) return result;
    const uint32_t slot =
        context.backend().submitOnStream(context.number(), registration.index, sendbuff, recvbuff, stream,
                                         callback != nullptr ? callback : ignoreCompletion, callbackArgs, windows);
    return RankQueues::isTaken(slot) ? dfcclSuccess : refuseSlot(context, slot);
  });
}

dfcclResult_t dfcclWaitOnStream(int collId, dfcclStream_t stream, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext& context = contextOf(ctx);
    const uint32_t index = context.get(collId).index;
    if (const auto capture = context.backend().captureOf(context.number(), stream)) {
      context.waitInGraph(collId, *capture, stream);
    } else {
      context.backend().waitOnStream(context.number(), index, stream);
    }
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclRunProgram(const void* sendbuff, void* recvbuff, int collId, dfcclCallback_t callback,
                              void* callbackArgs, dfcclRankCtx_t ctx) {
  RankContext* context = contexts().find(ctx);
  const Registration* registration = context == nullptr ? nullptr : context->find(collId);
  if (registration == nullptr) [[unlikely]]
    return refuseRun(sendbuff, recvbuff, collId, ctx);
  if (!registration->isOwnProgram) [[unlikely]]
    return refuseKind(*registration, "a program of your own", collId);
  return queue(*context, *registration, sendbuff, recvbuff, collId, callback, callbackArgs, ctx);
}
}
