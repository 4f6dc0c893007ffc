// Requests: tested, waited for, given back.
#include "c_api/requests.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "c_api/callback_wait.hpp"
#include "c_api/last_error.hpp"
#include "c_api/open_group.hpp"
#include "c_api/waiting.hpp"
#include "matching/request.hpp"
#include "os/tick_clock.hpp"

namespace dfccl::c_api {
namespace {

[[noreturn]] void refuseEnded() {
  throw Error(dfcclClosed, "The request was given back, or was never made.",
              "Wait for each request once; dfcclTestRun asks without giving it back.");
}

Request& requestOf(dfcclRequest_t handle) {
  Request* const found = Request::find(reinterpret_cast<uint64_t>(handle));
  if (found != nullptr) return *found;
  if (handle == nullptr) refuseArgument("The request is null.", "Pass one that a run was submitted with.");
  refuseEnded();
}

/// Gives a request back that is over. @return how it ended.
dfcclResult_t end(Request& request, dfcclRequest_t handle) {
  const dfcclResult_t status = request.status();
  if (!request.endHandle(reinterpret_cast<uint64_t>(handle))) refuseEnded();
  return status;
}

/// @return dfcclSuccess. @throws Error dfcclAborted
dfcclResult_t endOf(dfcclResult_t status) {
  if (status == dfcclSuccess) return dfcclSuccess;
  throw Error(dfcclAborted, "The run was given up: by dfcclAbort, by dfcclGroupAbort, or because a rank is gone.",
              "dfcclGetLostRanks names ranks that are gone; make another group of the others.");
}

/// The rank of a request's part. @throws Error dfcclClosed: it was destroyed, as a lost one may be with runs in flight.
RankContext& rankOf(const RequestPart& part) {
  if (RankContext* const context = contexts().find(part.context)) return *context;
  throw Error(dfcclClosed, "The request's rank has been destroyed.", "Give it back with dfcclFreeRequest.");
}

/// The ranks that requests are of, all of one world. @pre they aren't over; null ones are passed over.
std::vector<RankContext*> contextsOf(std::span<Request* const> requests) {
  std::vector<RankContext*> list;
  for (const Request* request : requests) {
    if (request == nullptr) continue;
    for (const RequestPart& part : request->parts()) {
      RankContext* const context = &rankOf(part);
      if (!list.empty() && &context->openWorld() != &list.front()->openWorld()) {
        refuseArgument("The requests are of different worlds.", "Wait for each world's requests by themselves.");
      }
      if (std::find(list.begin(), list.end(), context) == list.end()) list.push_back(context);
    }
  }
  return list;
}

/// Works on what it waits for, a bounded piece.
void helpOnce(Request& request) {
  Request* const one[] = {&request};
  const std::vector<RankContext*> mine = contextsOf(one);
  bool isDelivering = false;
  for (RankContext* context : mine) isDelivering |= context->queues().isDelivering();
  if (!isDelivering) Waiting(mine, 0).help();
  for (RankContext* context : mine) context->queues().deliver();
}

void waitOnStream(const Request& request, void* stream) {
  for (const RequestPart& part : request.parts()) {
    rankOf(part);
    if (part.matching.load(order::acquire) != nullptr) continue;
    throw Error(
        dfcclUnavailable,
        "A stream can't wait for this request, which is on a CPU, or of a message to itself that has no other half.",
        "Wait for it with dfcclWaitRun.");
  }
  for (const RequestPart& part : request.parts()) part.matching.load(order::relaxed)->waitOnStream(part, stream);
}

/// Works for some ranks, which are of one world, until isOver() says so.
template <class IsOver>
void helpUntil(const IsOver& isOver, std::span<RankContext* const> mine, uint64_t timeoutMicros) {
  for (RankContext* context : mine) refuseInCallback(*context);
  Waiting waiting(mine, timeoutMicros);
  for (;;) {
    uint32_t delivered = 0;
    for (RankContext* context : mine) delivered += context->queues().deliver();
    if (isOver()) return;
    if (delivered != 0 || waiting.help(false)) {
      waiting.noteProgress();
    } else {
      waiting.pause();
    }
  }
}

/// Another thread has given it back, and it may be another run's by now.
bool isAnothers(const Request& request, dfcclRequest_t handle) {
  return request.handle.load(order::acquire) != reinterpret_cast<uint64_t>(handle);
}

/// Helps until one of the requests is over, or another's. @return which. @pre none is null but those that are passed
/// over.
size_t waitForOne(std::span<Request* const> requests, const dfcclRequest_t* handles, uint64_t timeoutMicros) {
  size_t which = requests.size();
  const auto isOver = [&] {
    for (which = 0; which != requests.size(); ++which) {
      const Request* const request = requests[which];
      if (request != nullptr && (request->isOver() || isAnothers(*request, handles[which]))) return true;
    }
    return false;
  };
  if (!isOver()) helpUntil(isOver, contextsOf(requests), timeoutMicros);
  return which;
}

void waitFor(Request& request, dfcclRequest_t handle, uint64_t timeoutMicros) {
  Request* const one[] = {&request};
  waitForOne(one, &handle, timeoutMicros);
}

/// @pre it isn't over
const OpenWorld* worldOf(const Request& request) { return &rankOf(request.parts().front()).openWorld(); }

/// What is left of a time since `begin`; 0: there is no limit.
uint64_t leftOf(uint64_t timeoutMicros, uint64_t begin) {
  if (timeoutMicros == 0) return 0;
  const auto passed = static_cast<uint64_t>(static_cast<double>(readTicks() - begin) / ticksPerMicrosecond());
  return passed < timeoutMicros ? timeoutMicros - passed : 1;
}

/// Helps until all requests are over, and works meanwhile for all their ranks: what one is over by may be up to
/// another. Worlds know nothing of each other, and come one behind the other.
void waitForAll(std::span<Request* const> requests, const dfcclRequest_t* handles, uint64_t timeoutMicros) {
  const uint64_t begin = readTicks();
  size_t next = 0;
  const auto areOver = [&] {
    while (next != requests.size() && (requests[next]->isOver() || isAnothers(*requests[next], handles[next]))) ++next;
    return next == requests.size();
  };
  while (!areOver()) {
    const OpenWorld* const world = worldOf(*requests[next]);
    std::vector<Request*> ofWorld;
    for (Request* request : requests.subspan(next)) {
      if (!request->isOver() && worldOf(*request) == world) ofWorld.push_back(request);
    }
    if (ofWorld.empty()) continue;  // the world's threads ended them between the two looks
    const auto isWorldOver = [&] { return areOver() || worldOf(*requests[next]) != world; };
    helpUntil(isWorldOver, contextsOf(ofWorld), leftOf(timeoutMicros, begin));
  }
}

std::vector<Request*> listOf(const dfcclRequest_t* handles, int count, bool mayBeNull) {
  if (count < 0 || (handles == nullptr && count != 0)) {
    refuseArgument("The list of requests is null, or its length is " + std::to_string(count) + ".",
                   "Pass as many requests as you say.");
  }
  std::vector<Request*> list;
  for (int i = 0; i < count; ++i) {
    const bool isLeftOut = mayBeNull && handles[i] == nullptr;
    list.push_back(isLeftOut ? nullptr : &requestOf(handles[i]));
  }
  return list;
}

}  // namespace

void waitForRequest(dfcclRequest_t handle, uint64_t timeoutMicros) {
  Request& request = requestOf(handle);
  const uint64_t begin = readTicks();
  waitFor(request, handle, timeoutMicros);
  waitForCallback(request, handle, timeoutMicros, begin);
  endOf(end(request, handle));
}

void waitForEnd(dfcclRequest_t handle) noexcept {
  Request* const request = Request::find(reinterpret_cast<uint64_t>(handle));
  if (request == nullptr) return;
  try {
    waitFor(*request, handle, 0);
  } catch (const Error&) {
    // The world or the rank is not to be waited for, which the caller is told already.
  }
  request->endHandle(reinterpret_cast<uint64_t>(handle));
}

}  // namespace dfccl::c_api

using namespace dfccl;
using namespace dfccl::c_api;

extern "C" {

dfcclResult_t dfcclWaitRun(dfcclRequest_t request, uint64_t timeoutMicros) {
  return guarded([&] {
    waitForRequest(request, timeoutMicros);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclWaitRuns(const dfcclRequest_t* requests, int count, uint64_t timeoutMicros) {
  return guarded([&] {
    const std::vector<Request*> list = listOf(requests, count, false);
    const uint64_t begin = readTicks();
    waitForAll(list, requests, timeoutMicros);
    for (size_t i = 0; i < list.size(); ++i) waitForCallback(*list[i], requests[i], timeoutMicros, begin);
    dfcclResult_t worst = dfcclSuccess;
    bool isAnyEnded = false;
    for (size_t i = 0; i < list.size(); ++i) {
      const dfcclResult_t status = list[i]->status();
      if (!list[i]->endHandle(reinterpret_cast<uint64_t>(requests[i]))) {
        isAnyEnded = true;
      } else if (status != dfcclSuccess) {
        worst = status;
      }
    }
    if (isAnyEnded) refuseEnded();
    return endOf(worst);
  });
}

dfcclResult_t dfcclWaitAnyRun(const dfcclRequest_t* requests, int count, uint64_t timeoutMicros, int* index) {
  return guarded([&] {
    if (index == nullptr) refuseArgument("The address for the index is null.", "Pass where to store it.");
    *index = -1;
    const std::vector<Request*> list = listOf(requests, count, true);
    bool isAny = false;
    for (const Request* request : list) isAny |= request != nullptr;
    if (!isAny) return dfcclSuccess;
    const uint64_t begin = readTicks();
    const size_t over = waitForOne(list, requests, timeoutMicros);
    waitForCallback(*list[over], requests[over], timeoutMicros, begin);
    *index = static_cast<int>(over);
    return endOf(end(*list[over], requests[over]));
  });
}

dfcclResult_t dfcclTestRun(dfcclRequest_t handle, int* isOver) {
  return guarded([&] {
    if (isOver == nullptr) refuseArgument("The address for the answer is null.", "Pass where to store it.");
    *isOver = 0;
    Request& request = requestOf(handle);
    if (!request.isOver()) helpOnce(request);
    if (!request.isOver()) return dfcclSuccess;
    *isOver = 1;
    return endOf(request.status());
  });
}

dfcclResult_t dfcclNotifyRun(dfcclRequest_t handle, dfcclCallback_t callback, void* callbackArgs) {
  return guarded([&] {
    if (callback == nullptr) refuseArgument("The callback is null.", "Pass the function to call.");
    if (!requestOf(handle).notify(callback, callbackArgs)) {
      throw Error(dfcclInUse, "The request has a callback already.", "Give each request one callback.");
    }
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclWaitRunOnStream(dfcclRequest_t handle, dfcclStream_t stream) {
  return guarded([&] {
    Request& request = requestOf(handle);
    if (!request.isOver() || request.isCaptured()) waitOnStream(request, stream);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclIsRunCaptured(dfcclRequest_t handle, int* isCaptured) {
  return guarded([&] {
    if (isCaptured == nullptr) refuseArgument("The address for the answer is null.", "Pass where to store it.");
    *isCaptured = requestOf(handle).isCaptured() ? 1 : 0;
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclGetEndedCapturedRuns(uint64_t* count, dfcclRankCtx_t ctx) {
  return guarded([&] {
    if (count == nullptr) refuseArgument("The address for the count is null.", "Pass where to store it.");
    *count = contextOf(ctx).endedInGraphs();
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclFreeRequest(dfcclRequest_t handle) {
  return guarded([&] {
    if (handle != nullptr && !requestOf(handle).endHandle(reinterpret_cast<uint64_t>(handle))) refuseEnded();
    return dfcclSuccess;
  });
}
}
