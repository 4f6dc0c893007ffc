#pragma once
#include <cstdint>

#include "base/types.hpp"

namespace dfccl::nccl {

/// Of a buffer that a kernel or a copy of this library's works on before its run is queued, which looks too late.
/// @param name as callers know it. @throws Failure ncclInvalidArgument: so many bytes of the device's memory don't lie
/// there, or an element can't.
void checkDeviceBuffer(const char* name, const void* address, uint64_t bytes, DataType type, int device);

}  // namespace dfccl::nccl
