#pragma once
// 32-bit counters that stop at their largest value. A spin threshold that is raised at every success passes 32 bits
// after a few successes; one that wrapped would become tiny, and a collective that is doing well would be preempted at
// once.
#include <cstdint>

#include "base/host_device.hpp"

namespace dfccl::scheduling {

inline constexpr uint32_t kSaturated = 0xffffffff;

DFCCL_HD constexpr uint32_t saturatingIncrement(uint32_t value) { return value == kSaturated ? kSaturated : value + 1; }

DFCCL_HD constexpr uint32_t saturatingAdd(uint32_t a, uint32_t b) { return a > kSaturated - b ? kSaturated : a + b; }

/// a - b, or 0.
DFCCL_HD constexpr uint32_t saturatingSubtract(uint32_t a, uint32_t b) { return a > b ? a - b : 0; }

DFCCL_HD constexpr uint32_t saturatingMultiply(uint32_t a, uint32_t b) {
  const uint64_t product = uint64_t{a} * b;
  return product > kSaturated ? kSaturated : static_cast<uint32_t>(product);
}

/// `value` times `factor256ths` / 256, rounded up, so that a factor above 1 raises even a 1.
DFCCL_HD constexpr uint32_t saturatingScale(uint32_t value, uint32_t factor256ths) {
  const uint64_t scaled = (uint64_t{value} * factor256ths + 255) >> 8;
  return scaled > kSaturated ? kSaturated : static_cast<uint32_t>(scaled);
}

}  // namespace dfccl::scheduling
