// Requests: tested, waited for, given back.
#include "c_api/requests.hpp"

#include <string>
#include <vector>

#include "c_api/callback_wait.hpp"
#include "c_api/last_error.hpp"
#include "c_api/rank_context.hpp"
#include "c_api/request_waits.hpp"
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
    waitOnStream(requestOf(handle), stream);
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
