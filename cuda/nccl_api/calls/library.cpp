// What is asked of the library itself.
#include "entry_points.hpp"
#include "functions.hpp"
#include "nccl_api/calls/falling_back.hpp"
#include "nccl_api/universe/arguments.hpp"

namespace dfccl::nccl {

ncclResult_t getVersion(int* version) {
  checkOut(version, "version");
  // Callers choose by it what they may ask of their communicators.
  if (RealNccl::isForAll()) {
    RealNccl::open();
    return callReal<decltype(ncclGetVersion)>("ncclGetVersion", version);
  }
  *version = kNcclVersion;
  return ncclSuccess;
}

const char* getErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "a call of CUDA failed (ncclGetLastError says which)";
    case ncclSystemError:
      return "the operating system refused something (ncclGetLastError says what)";
    case ncclInternalError:
      return "an error of the library's own";
    case ncclInvalidArgument:
      return "an argument is not allowed (ncclGetLastError says which)";
    case ncclInvalidUsage:
      return "this call is not possible here (ncclGetLastError says why)";
    case ncclRemoteError:
      return "another rank is gone, or has given up";
    case ncclInProgress:
      return "still in progress";
    case ncclTimeout:
      return "other ranks did not come in time";
  }
  return "no code of NCCL's";
}

const char* getLastError(ncclComm_t) { return lastFailure(); }

void resetDebugInit() {}

void paramDumpAll() {}

}  // namespace dfccl::nccl
