#include "stream_store.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace dfccl::reduce_copy {

void streamStore(void* destination, const void* source, size_t bytes) {
  constexpr size_t kLine = 64;
  char* to = static_cast<char*>(destination);
  const char* from = static_cast<const char*>(source);
  // A line that is not written whole is read first, so the ragged ends go through the cache.
  const size_t head = std::min(bytes, (kLine - reinterpret_cast<uintptr_t>(to) % kLine) % kLine);
  std::memcpy(to, from, head);
  size_t at = head;
  // The stores leave the buffers for lines that are on their way to the source's loads, and a prefetcher begins anew at
  // every page. Measured: 3.2 us for 32 KiB, 3.7 without, 4.7 with ordinary stores.
  constexpr size_t kAhead = 2048;
  for (; at + kLine <= bytes; at += kLine) {
    _mm_prefetch(from + std::min(at + kAhead, bytes - 1), _MM_HINT_T0);
    for (size_t part = 0; part < kLine; part += sizeof(__m128i)) {
      const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + part));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + part), value);
    }
  }
  std::memcpy(to + at, from + at, bytes - at);
}

// Streaming stores are ordered by nothing else: not even by a later release store of this thread.
void streamFence() { _mm_sfence(); }

}  // namespace dfccl::reduce_copy
#endif
