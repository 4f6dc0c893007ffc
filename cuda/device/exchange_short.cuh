#pragma once
// A prepared exchange in which no worker has more than one whole line, and the arithmetic is the commonest: a sum of
// floats. Such a run is over in two microseconds, of which every instruction on the way takes its part, so this has
// few: all that can be known before a run is in PreparedExchange.
#include "daemon/state/prepared_part.hpp"
#include "exchange_held.cuh"

namespace dfccl::gpu {

/// Whether it is one, and nothing of it has been sent before.
__device__ inline bool isShort(const PreparedExchange& e) {
  const uint64_t places = reinterpret_cast<uint64_t>(e.own) | reinterpret_cast<uint64_t>(e.result);
  return e.type == DataType::float32 && e.op == ReduceOp::sum && e.isSent == 0 && e.isSendOnly == 0 &&
         e.members <= kHeldMembers && e.count % 2 == 0 && e.count <= 2 * kWorkers && places % kLinePayload == 0;
}

/// @pre isShort(e). @return whether the parts were there: the same for every worker.
__device__ __noinline__ inline bool exchangeShort(const PreparedExchange& e) {
  static_assert(kLinePayload == 2 * sizeof(float));
  constexpr int kLooks = 12;
  const uint32_t worker = threadIdx.x;
  const uint32_t flag = Ll::flagOf(e.run);
  const int members = static_cast<int>(e.members), member = static_cast<int>(e.member);
  const uint64_t offset = (e.run % 2 != 0 ? e.halfBytes : 0) + worker * kLineBytes;
  const bool hasLine = worker < e.count / 2;
  uint64_t parts[kHeldMembers];
  bool isThere = true;
  if (hasLine) {
    const uint64_t own = loadWholeLine(static_cast<const uint8_t*>(e.own) + worker * kLinePayload);
#pragma unroll
    for (int m = 0; m < kHeldMembers; ++m) {
      parts[m] = own;
      if (m < members && m != member) storeLine(e.evenOutgoing[m] + offset, own, flag);
    }
    const uint8_t* const incoming = e.evenIncoming + offset;
    isThere = false;
#pragma unroll 1
    for (int look = 0; look < kLooks && !isThere; ++look) {
      isThere = true;
#pragma unroll
      for (int m = 0; m < kHeldMembers; ++m) {
        if (m < members && m != member) isThere &= loadLine(incoming + m * e.memberStride, flag, parts[m]);
      }
    }
  }
  if (!isUnanimous(isThere)) return false;
  if (hasLine) static_cast<uint64_t*>(e.result)[worker] = detail::sumOfFloats(parts, e.members);
  return true;
}

}  // namespace dfccl::gpu
