#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "world/known_memory.hpp"

namespace dfccl::gpu {

/// Why a kernel on a device can't work on a buffer.
struct BufferFault {
  std::string what;  // "is not device memory", say
  std::string remedy;
};

/// @param element size of one. @param elementName what is said of it. @param range where the buffer is in order, of the
/// allocation that it lies in.
std::optional<BufferFault> findFault(const void* address, uint64_t bytes, size_t element,
                                     const std::string& elementName, int device, MemoryRange& range);

}  // namespace dfccl::gpu
