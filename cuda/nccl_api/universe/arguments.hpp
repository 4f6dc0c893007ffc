#pragma once
// What many functions check of their arguments.
#include <string>

#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {

/// @param what is to be stored there. @throws Failure ncclInvalidArgument: it is null.
inline void checkOut(const void* out, const char* what) {
  if (out == nullptr)
    refuseArgument(std::string("The address for the ") + what + " is null.", "Pass where to store it.");
}

/// @throws Failure ncclInvalidArgument
inline void checkType(ncclDataType_t type) {
  if (type < ncclInt8 || type > ncclFloat8e5m2) {
    refuseArgument("The data type is " + std::to_string(type) + ".", "Allowed: 0 to 11.");
  }
}

}  // namespace dfccl::nccl
