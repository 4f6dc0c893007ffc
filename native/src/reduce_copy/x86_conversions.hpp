#pragma once
// Conversions between lanes of different widths that x86 has instructions for and that compilers don't find. For other
// CPUs and lane counts has...() is false, and nothing else may be called.
#include "vectors.hpp"

namespace dfccl::reduce_copy {
namespace {

#if defined(__x86_64__)

template <int L>
constexpr bool hasHalfConversion() {
  return (kVectorBytes == 32 && L == 8) || (kVectorBytes == 64 && L == 16);
}

template <int L>
DFCCL_INLINE Vector<float, L> halfToFloat(Vector<uint16_t, L> v) {
  if constexpr (L == 8) {
    return (Vector<float, L>)_mm256_cvtph_ps((__m128i)v);
  } else {
    return (Vector<float, L>)_mm512_maskz_cvtph_ps(0xffff, (__m256i)v);
  }
}

template <int L>
DFCCL_INLINE Vector<uint16_t, L> floatToHalf(Vector<float, L> v) {
  if constexpr (L == 8) {
    return (Vector<uint16_t, L>)_mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT);
  } else {
    return (Vector<uint16_t, L>)_mm512_maskz_cvtps_ph(0xffff, (__m512)v, _MM_FROUND_TO_NEAREST_INT);
  }
}

/// Lanes of 8 or 16 bits to and from lanes of 32.
template <class B, int L>
constexpr bool hasFastExtension() {
  return hasHalfConversion<L>();
}

template <class B, int L>
DFCCL_INLINE Vector<uint32_t, L> fastExtend(Vector<B, L> v) {
  if constexpr (L == 16 && sizeof(B) == 1) {
    return (Vector<uint32_t, L>)_mm512_maskz_cvtepu8_epi32(0xffff, (__m128i)v);
  } else if constexpr (L == 16) {
    return (Vector<uint32_t, L>)_mm512_maskz_cvtepu16_epi32(0xffff, (__m256i)v);
  } else if constexpr (sizeof(B) == 1) {
    return (Vector<uint32_t, L>)_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(__builtin_bit_cast(long long, v)));
  } else {
    return (Vector<uint32_t, L>)_mm256_cvtepu16_epi32((__m128i)v);
  }
}

template <class B, int L>
DFCCL_INLINE Vector<B, L> fastNarrow(Vector<uint32_t, L> v) {
  if constexpr (L == 16 && sizeof(B) == 1) {
    return (Vector<B, L>)_mm512_maskz_cvtepi32_epi8(0xffff, (__m512i)v);
  } else if constexpr (L == 16) {
    return (Vector<B, L>)_mm512_maskz_cvtepi32_epi16(0xffff, (__m512i)v);
  } else {
    const __m256i wide = (__m256i)v;
    const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
    if constexpr (sizeof(B) == 2) {
      return (Vector<B, L>)words;
    } else {
      return __builtin_bit_cast(Vector<B, L>, _mm_cvtsi128_si64(_mm_packus_epi16(words, words)));
    }
  }
}

#else

template <int L>
constexpr bool hasHalfConversion() {
  return false;
}

template <class B, int L>
constexpr bool hasFastExtension() {
  return false;
}

#endif

}  // namespace
}  // namespace dfccl::reduce_copy
