#pragma once
// An exchange of so few lines that a worker holds its own in registers from the first look to the reduction. All but
// the arithmetic is the same for every type.
#include "exchange_lines.cuh"
#include "numeric/element.hpp"
#include "team_vote.cuh"
#include "typed_moves.cuh"
#include "with_type.cuh"

namespace dfccl::gpu {

inline constexpr int kHeldLines = 4;  // of a worker, at most
inline constexpr int kHeldMembers = 4;
inline constexpr int kMostHeldMembers = 8;  // by forms of their own, see CapturedForm

__device__ inline bool isHeld(const Exchange& e) {
  return e.count * sizeOf(e.type) <= uint64_t{kHeldLines} * kWorkers * kLinePayload && e.members <= kHeldMembers;
}

namespace detail {

__device__ inline float lowFloat(uint64_t payload) { return __uint_as_float(static_cast<uint32_t>(payload)); }
__device__ inline float highFloat(uint64_t payload) { return __uint_as_float(static_cast<uint32_t>(payload >> 32)); }

/// The commonest arithmetic; its bits are those of numeric/element.hpp.
template <int kMost>
__device__ inline uint64_t sumOfFloats(const uint64_t (&parts)[kMost], uint32_t members) {
  float low = lowFloat(parts[0]), high = highFloat(parts[0]);
#pragma unroll
  for (int m = 1; m < kMost; ++m) {
    if (m >= members) break;
    low = __fadd_rn(low, lowFloat(parts[m]));
    high = __fadd_rn(high, highFloat(parts[m]));
  }
  low = element::withCanonicalNan(low);
  high = element::withCanonicalNan(high);
  return uint64_t{__float_as_uint(low)} | uint64_t{__float_as_uint(high)} << 32;
}

/// Any other arithmetic. Out of line, because a switch over all types stands in the way of a short run's instructions;
/// by value, because an array that is passed on would lie in memory from the beginning.
template <class... Parts>
__device__ __noinline__ inline uint64_t foldParts(const Exchange& e, Parts... each) {
  const uint64_t parts[] = {each...};
  return withType(e.type, [&]<class T>() { return TypedMoves<T>::foldLine(e, parts); });
}
__device__ inline uint64_t foldAnyLine(const Exchange& e, const uint64_t (&p)[4]) {
  return foldParts(e, p[0], p[1], p[2], p[3]);
}
__device__ inline uint64_t foldAnyLine(const Exchange& e, const uint64_t (&p)[8]) {
  return foldParts(e, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]);
}

}  // namespace detail

/// Whether all lines are whole ones that the workers hold, and the arithmetic is the commonest.
__device__ inline bool isPlain(const Exchange& e) {
  const uint64_t bytes = e.count * sizeof(float);
  const uint64_t places = reinterpret_cast<uint64_t>(e.own) | reinterpret_cast<uint64_t>(e.result) | bytes;
  return e.type == DataType::float32 && e.op == ReduceOp::sum && places % kLinePayload == 0 &&
         bytes <= uint64_t{kHeldLines} * kWorkers * kLinePayload && e.members <= kHeldMembers;
}

/// @return whether the parts were there: the same for every worker.
template <int kLines, bool isPlain>
__device__ inline bool exchangeHeldLines(const Exchange& e) {
  // Looks before the vote: what all members send at once comes within a microsecond or two.
  constexpr int kLooks = 12;
  const uint32_t flag = Ll::flagOf(e.run);
  const uint64_t bytes = e.count * sizeOf(e.type);
  const uint32_t worker = threadIdx.x;
  // Lines of this worker: every kWorkers-th.
  const auto total = static_cast<int>(linesOf(bytes));
  const int lines = (total - static_cast<int>(worker) + kWorkers - 1) / static_cast<int>(kWorkers);
  const auto members = static_cast<int>(e.members), member = static_cast<int>(e.member);
  uint64_t parts[kLines][kHeldMembers];
  uint64_t own[kLines];
#pragma unroll
  for (int h = 0; h < kLines; ++h) {
    if (h >= lines) break;
    const uint32_t line = worker + h * kWorkers;
    own[h] = isPlain ? loadWholeLine(static_cast<const uint8_t*>(e.own) + uint64_t{worker} * kLinePayload +
                                     h * kWorkers * kLinePayload)
                     : loadPayload(e.own, line, bytes);
  }
#pragma unroll
  for (int m = 0; m < kHeldMembers; ++m) {
    if (m >= members) break;
    const bool isSent = m == member || e.isSent;
    uint8_t* const to = e.outgoing(m) + worker * kLineBytes;
#pragma unroll
    for (int h = 0; h < kLines; ++h) {
      parts[h][m] = own[h];
      if (h < lines && !isSent) storeLine(to + h * kWorkers * kLineBytes, own[h], flag);
    }
  }
  if (e.isSendOnly) return false;
  const uint8_t* const incoming = e.incoming(0) + worker * kLineBytes;
  const uint64_t stride = e.memberStride;
  bool isThere = false;
#pragma unroll 1
  for (int look = 0; look < kLooks && !isThere; ++look) {
    isThere = true;
#pragma unroll
    for (int m = 0; m < kHeldMembers; ++m) {
      if (m >= members || m == member) continue;
      const uint8_t* const from = incoming + m * stride;
#pragma unroll
      for (int h = 0; h < kLines; ++h) {
        if (h < lines) isThere &= loadLine(from + h * kWorkers * kLineBytes, flag, parts[h][m]);
      }
    }
  }
  if (!isUnanimous(isThere)) return false;
  const bool isFloatSum = isPlain || (e.type == DataType::float32 && e.op == ReduceOp::sum);
#pragma unroll
  for (int h = 0; h < kLines; ++h) {
    if (h >= lines) break;
    const auto& p = parts[h];
    if (isPlain) {
      (static_cast<uint64_t*>(e.result) + worker)[h * kWorkers] = detail::sumOfFloats(p, e.members);
    } else {
      const uint64_t result = isFloatSum ? detail::sumOfFloats(p, e.members) : detail::foldAnyLine(e, p);
      storePayload(e.result, worker + h * kWorkers, bytes, result);
    }
  }
  return true;
}

/// No call in it, and no more lines than are needed: a function that keeps to the registers which are its own, and is
/// soon read. Such a run is over in two microseconds.
template <int kLines>
__device__ __noinline__ bool exchangePlainLines(const Exchange& e) {
  return exchangeHeldLines<kLines, true>(e);
}

__device__ inline bool exchangePlain(const Exchange& e) {
  const uint64_t bytes = e.count * sizeof(float);
  if (bytes <= uint64_t{kWorkers} * kLinePayload) return exchangePlainLines<1>(e);
  if (bytes <= 2 * uint64_t{kWorkers} * kLinePayload) return exchangePlainLines<2>(e);
  return exchangePlainLines<kHeldLines>(e);
}

__device__ __noinline__ inline bool exchangeHeld(const Exchange& e) { return exchangeHeldLines<kHeldLines, false>(e); }

}  // namespace dfccl::gpu
