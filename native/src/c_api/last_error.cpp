#include "c_api/last_error.hpp"

#include <cstdio>

#include "dfccl/dfccl.h"

namespace dfccl::c_api {
namespace {

thread_local char lastError[1024] = "";

}  // namespace

dfcclResult_t fail(dfcclResult_t status, const char* text) noexcept {
  std::snprintf(lastError, sizeof lastError, "%s", text);
  return status;
}

}  // namespace dfccl::c_api

extern "C" {

const char* dfcclGetLastError(void) { return dfccl::c_api::lastError; }

const char* dfcclGetErrorString(dfcclResult_t result) {
  switch (result) {
    case dfcclSuccess:
      return "success";
    case dfcclInvalidArgument:
      return "invalid argument";
    case dfcclUnknownCollective:
      return "unknown collective";
    case dfcclAlreadyRegistered:
      return "registered already";
    case dfcclRegistrationMismatch:
      return "registered differently by another rank";
    case dfcclInvalidProgram:
      return "invalid program";
    case dfcclOutOfMemory:
      return "out of memory";
    case dfcclQueueFull:
      return "queue full";
    case dfcclInUse:
      return "in use";
    case dfcclClosed:
      return "closed";
    case dfcclAborted:
      return "aborted";
    case dfcclTimeout:
      return "timed out";
    case dfcclSystemError:
      return "system error";
    case dfcclDeadlock:
      return "deadlock";
    case dfcclUnavailable:
      return "unavailable";
    case dfcclCountMismatch:
      return "counts of a run differ";
  }
  return "unknown result";
}
}
