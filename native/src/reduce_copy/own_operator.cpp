#include "own_operator.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace dfccl::reduce_copy {
namespace {

constexpr size_t kOwnStageBytes = 8 << 10;

bool isAlignedTo(const void* pointer, size_t bytes) { return reinterpret_cast<uintptr_t>(pointer) % bytes == 0; }

}  // namespace

// A stretch at a time, and all of it is read before anything is written: a destination may be a source.
void reduceByOwn(const OwnOperator& own, DataType type, const ReduceCopyArgs& args) {
  alignas(64) char accumulated[kOwnStageBytes];
  alignas(64) char aligned[kOwnStageBytes];
  const size_t bytes = sizeOf(type);
  const size_t stretch = kOwnStageBytes / bytes;
  for (size_t at = 0; at < args.count; at += stretch) {
    const size_t count = std::min(stretch, args.count - at);
    std::memcpy(accumulated, static_cast<const char*>(args.sources[0]) + at * bytes, count * bytes);
    for (int k = 1; k < args.sourceCount; ++k) {
      const char* next = static_cast<const char*>(args.sources[k]) + at * bytes;
      if (!isAlignedTo(next, bytes)) {
        std::memcpy(aligned, next, count * bytes);
        next = aligned;
      }
      own.function(accumulated, next, count, static_cast<dfcclDataType_t>(type), own.user);
    }
    for (int j = 0; j < args.destinationCount; ++j) {
      std::memcpy(static_cast<char*>(args.destinations[j]) + at * bytes, accumulated, count * bytes);
    }
  }
}

}  // namespace dfccl::reduce_copy
