#pragma once
// The daemon's clock on a CPU: the time-stamp counter where there is one (10 ns a look instead of 25), nanoseconds
// elsewhere. Only differences are used, and only for policies, never for correctness.
#include <chrono>
#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace dfccl {

inline uint64_t readTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Ticks in a microsecond, measured once.
double ticksPerMicrosecond();

/// Of a caller's limit; as many as there can be where it is longer than that.
inline uint64_t ticksOf(uint64_t micros) {
  const double ticks = static_cast<double>(micros) * ticksPerMicrosecond();
  return ticks < 9e18 ? static_cast<uint64_t>(ticks) : ~uint64_t{0};
}

}  // namespace dfccl
