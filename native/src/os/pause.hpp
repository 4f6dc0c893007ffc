#pragma once
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dfccl {

/// Tells the core that this is a spin loop.
inline void cpuPause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace dfccl
