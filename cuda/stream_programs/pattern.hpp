#pragma once
#include <cstddef>
#include <cstdint>

namespace dfccl::gpu::programs {

inline constexpr uint32_t kMostRanks = 4;

enum class ElementType : uint8_t { int32, int64, float32, float64 };

constexpr size_t sizeOf(ElementType type) { return type == ElementType::int32 || type == ElementType::float32 ? 4 : 8; }

#if defined(__CUDACC__)
#define DFCCL_PATTERN_FUNCTION __host__ __device__
#else
#define DFCCL_PATTERN_FUNCTION
#endif

/// What a buffer holds: blocks of equal length, a base value each. All are whole numbers that every type has exactly.
struct Pattern {
  uint64_t blockLength = 0;  // elements
  uint32_t blocks = 0;       // 0: the buffer isn't used
  int32_t factor = 1;
  int32_t bases[kMostRanks] = {};

  DFCCL_PATTERN_FUNCTION uint64_t count() const { return blockLength * blocks; }
};

inline size_t bytesOf(const Pattern& pattern, ElementType type) { return pattern.count() * sizeOf(type); }

/// Prime, so that no element is at its block's place in another one by chance.
inline constexpr uint32_t kPeriod = 61;

DFCCL_PATTERN_FUNCTION inline int32_t valueAt(const Pattern& pattern, uint64_t i) {
  return pattern.bases[i / pattern.blockLength] +
         pattern.factor * static_cast<int32_t>(i % pattern.blockLength % kPeriod);
}

}  // namespace dfccl::gpu::programs
