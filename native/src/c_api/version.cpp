#include "c_api/last_error.hpp"
#include "dfccl/dfccl.h"

using namespace dfccl;
using namespace dfccl::c_api;

extern "C" {

const char* dfcclVersion(void) { return DFCCL_VERSION; }

dfcclResult_t dfcclGetVersion(int* version) {
  return guarded([&] {
    if (version == nullptr) refuseArgument("The address for the version is null.", "Pass where to store it.");
    *version = DFCCL_VERSION_CODE;
    return dfcclSuccess;
  });
}
}
