#pragma once
// An exchange of so few lines that a worker holds its own in registers from the first look to the reduction. All but
// the arithmetic is the same for every type.
#include "dfccl/numeric/element.hpp"
#include "exchange_lines.cuh"
#include "team_vote.cuh"
#include "typed_moves.cuh"
#include "with_type.cuh"

namespace dfccl::gpu {

inline constexpr int kHeldLines = 4;
inline constexpr int kHeldMembers = 4;

__device__ inline bool isHeld(const Exchange& e) {
  return e.count * sizeOf(e.type) <= uint64_t{kHeldLines} * kWorkers * kLinePayload && e.members <= kHeldMembers;
}

namespace detail {

__device__ inline float lowFloat(uint64_t payload) { return __uint_as_float(static_cast<uint32_t>(payload)); }
__device__ inline float highFloat(uint64_t payload) { return __uint_as_float(static_cast<uint32_t>(payload >> 32)); }

/// The commonest arithmetic; its bits are those of dfccl/numeric/element.hpp.
__device__ inline uint64_t sumOfFloats(const uint64_t (&parts)[kHeldMembers], uint32_t members) {
  float low = lowFloat(parts[0]), high = highFloat(parts[0]);
#pragma unroll
  for (int m = 1; m < kHeldMembers; ++m) {
    if (m >= members) break;
    low = __fadd_rn(low, lowFloat(parts[m]));
    high = __fadd_rn(high, highFloat(parts[m]));
  }
  low = element::withCanonicalNan(low);
  high = element::withCanonicalNan(high);
  return uint64_t{__float_as_uint(low)} | uint64_t{__float_as_uint(high)} << 32;
}

__device__ inline void storePayload(void* buffer, uint64_t index, uint64_t bytes, uint64_t payload) {
  uint8_t* const to = static_cast<uint8_t*>(buffer) + index * kLinePayload;
  if ((reinterpret_cast<uint64_t>(to) & 7) == 0 && (index + 1) * kLinePayload <= bytes) {
    *reinterpret_cast<uint64_t*>(to) = payload;
    return;
  }
#pragma unroll 1
  for (uint32_t i = 0; i < kLinePayload && index * kLinePayload + i < bytes; ++i) {
    to[i] = static_cast<uint8_t>(payload >> (8 * i));
  }
}

}  // namespace detail

/// @return whether the parts were there: the same for every worker.
__device__ inline bool exchangeHeldInTeam(const Exchange& e) {
  // Looks before the vote: what all members send at once comes within a microsecond or two.
  constexpr int kLooks = 12;
  const uint32_t flag = ll::flagOf(e.run);
  const uint64_t bytes = e.count * sizeOf(e.type);
  const auto lines = static_cast<uint32_t>(linesOf(bytes));
  const uint32_t members = e.members, member = e.member;
  uint64_t parts[kHeldLines][kHeldMembers];
#pragma unroll
  for (int h = 0; h < kHeldLines; ++h) {
    const uint32_t line = threadIdx.x + h * kWorkers;
    if (line >= lines) continue;
    const uint64_t own = loadPayload(e.own, line, bytes);
#pragma unroll
    for (int m = 0; m < kHeldMembers; ++m) {
      if (m >= members) break;
      if (m == member) {
        parts[h][m] = own;
      } else if (!e.isSent) {
        storeLine(e.outgoing(m) + line * kLineBytes, own, flag);
      }
    }
  }
  if (e.isSendOnly) return false;
  const uint8_t* const incoming = e.incoming(0);
  const uint64_t stride = e.memberStride;
  bool isThere = false;
#pragma unroll 1
  for (int look = 0; look < kLooks && !isThere; ++look) {
    isThere = true;
#pragma unroll
    for (int h = 0; h < kHeldLines; ++h) {
      const uint32_t line = threadIdx.x + h * kWorkers;
#pragma unroll
      for (int m = 0; m < kHeldMembers; ++m) {
        if (line >= lines || m >= members || m == member) continue;
        isThere &= loadLine(incoming + m * stride + line * kLineBytes, flag, parts[h][m]);
      }
    }
  }
  if (!isUnanimous(isThere)) return false;
  const bool isFloatSum = e.type == DataType::float32 && e.op == ReduceOp::sum;
#pragma unroll
  for (int h = 0; h < kHeldLines; ++h) {
    const uint32_t line = threadIdx.x + h * kWorkers;
    if (line >= lines) continue;
    uint64_t result;
    if (isFloatSum) {
      result = detail::sumOfFloats(parts[h], members);
    } else {
      result = withType(e.type, [&]<class T>() { return TypedMoves<T>::foldLine(e, parts[h]); });
    }
    detail::storePayload(e.result, line, bytes, result);
  }
  return true;
}

}  // namespace dfccl::gpu
