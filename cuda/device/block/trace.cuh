#pragma once
// A ring of the last moments of every block, always on: one posted store each, which nobody waits for.
#include <cstdint>

#include "daemon/state/trace_point.hpp"

namespace dfccl::gpu {

inline constexpr uint32_t kTraceEvents = 2048;  // of one ring: a power of two

struct alignas(16) TraceEvent {
  uint64_t clock;  // of this block's multiprocessor; TracePoint::entered ties it to nanoseconds
  uint64_t what;   // TracePoint in bits 0-7, value above
};

/// In device memory. The host reads it between stays, or while one goes on: then the newest events may be half there.
struct TraceRing {
  uint64_t count;  // events ever written, as of the last stay's end
  uint64_t reserved;
  TraceEvent events[kTraceEvents];
};

/// In shared memory; one for each thread that writes.
struct TraceCursor {
  TraceRing* ring;
  uint32_t count;
};

#if defined(__CUDACC__)
__device__ inline void writeTrace(TraceCursor& cursor, TracePoint point, uint64_t value) {
  uint64_t clock;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock));
  const uint32_t at = cursor.count++ % kTraceEvents;
  asm volatile("st.global.v2.u64 [%0], {%1,%2};" ::"l"(&cursor.ring->events[at]), "l"(clock),
               "l"(uint64_t{static_cast<uint8_t>(point)} | value << 8));
}
#endif

}  // namespace dfccl::gpu
