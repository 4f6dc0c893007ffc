#pragma once
// Vectors of one width, and how each element type gets into and out of them. Included once by each kernels_*.cpp after
// it has chosen its instructions; everything is in an unnamed namespace, because the same template means other
// instructions in each of those files and the linker must not merge them.
//
// Written in the vector extensions of GCC and Clang rather than in intrinsics, so that one source serves every CPU;
// only the float16 conversions of x86 are spelled out, which the extensions have no words for.

namespace dfccl::reduce_copy {
namespace {

template <class T, int kLanes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(sizeof(T) * kLanes)));
};
template <class T, int kLanes>
using Vector = typename VectorOf<T, kLanes>::Type;

#define DFCCL_INLINE [[gnu::always_inline]] inline

template <class V>
DFCCL_INLINE V loadVector(const char* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class V>
DFCCL_INLINE void storeVector(char* to, V value) {
  __builtin_memcpy(to, &value, sizeof value);
}

/// NaN lanes become the canonical NaN.
template <int L>
DFCCL_INLINE Vector<float, L> withCanonicalNan(Vector<float, L> v) {
  const auto nan = __builtin_bit_cast(float, kNan32) - Vector<float, L>{};
  return v == v ? v : nan;
}

template <int L>
DFCCL_INLINE Vector<double, L> withCanonicalNan(Vector<double, L> v) {
  const auto nan = __builtin_bit_cast(double, kNan64) - Vector<double, L>{};
  return v == v ? v : nan;
}

/// Integers, float32 and float64: reduced as they are stored.
template <class T, int L>
struct Lanes {
  using Scalar = T;
  using Value = Vector<T, L>;
  // Signed integers wrap by adding and multiplying as unsigned.
  using Arithmetic =
      Vector<typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type, L>;
  static constexpr bool kIsFloat = std::is_floating_point_v<T>;
  static constexpr size_t kElementBytes = sizeof(T);

  DFCCL_INLINE static Value load(const char* from) { return loadVector<Value>(from); }
  DFCCL_INLINE static void store(char* to, Value value) { storeVector(to, value); }
};

/// float16, bfloat16, float8: L elements widened to L float32. The same steps as widen() and roundTo(), for all lanes
/// at once and with selections instead of branches.
template <class B, int e, int f, Infinity i, int L>
struct Lanes<SmallFloat<B, e, f, i>, L> {
  using Format = SmallFloat<B, e, f, i>;
  using Scalar = float;
  using Value = Vector<float, L>;
  using Arithmetic = Value;
  using Word = Vector<uint32_t, L>;
  using Stored = Vector<B, L>;
  static constexpr bool kIsFloat = true;
  static constexpr size_t kElementBytes = sizeof(B);

  DFCCL_INLINE static Value load(const char* from) {
    const Stored stored = loadVector<Stored>(from);
#if defined(__x86_64__)
    if constexpr (std::is_same_v<Format, Float16> && kVectorBytes == 32 && L == 8) {
      return (Value)_mm256_cvtph_ps((__m128i)stored);
    }
    if constexpr (std::is_same_v<Format, Float16> && kVectorBytes == 64 && L == 16) {
      return (Value)_mm512_maskz_cvtph_ps(0xffff, (__m256i)stored);
    }
#endif
    const Word bits = __builtin_convertvector(stored, Word);
    if constexpr (!Format::kNarrowExponent) return (Value)(bits << Format::kShift);
    const Word magnitude = bits & (Format::kSign - 1);
    const Word sign = (bits & Format::kSign) << (32 - Format::kWidth);
    const Word shifted = magnitude << Format::kShift;
    const float one = __builtin_bit_cast(float, Format::kSmallestNormalAsFloat);
    const Word subnormal = (Word)((Value)(shifted + Format::kSmallestNormalAsFloat) - one);
    Word result = shifted < (uint32_t{1} << 23) ? subnormal : shifted + Format::kRebias;
    constexpr uint32_t kFirstSpecial = Format::kHasInfinity ? Format::kExponentMask : Format::kNan;
    result = magnitude >= kFirstSpecial ? shifted | 0x7f800000u : result;
    return (Value)(result | sign);
  }

  /// @param value No NaN but the canonical one.
  DFCCL_INLINE static void store(char* to, Value value) {
#if defined(__x86_64__)
    if constexpr (std::is_same_v<Format, Float16> && kVectorBytes == 32 && L == 8) {
      storeVector(to, (Stored)_mm256_cvtps_ph((__m256)value, _MM_FROUND_TO_NEAREST_INT));
      return;
    }
    if constexpr (std::is_same_v<Format, Float16> && kVectorBytes == 64 && L == 16) {
      storeVector(to, (Stored)_mm512_maskz_cvtps_ph(0xffff, (__m512)value, _MM_FROUND_TO_NEAREST_INT));
      return;
    }
#endif
    const Word bits = (Word)value;
    const Word given = bits & 0x7fffffffu;
    Word magnitude = given;
    if constexpr (Format::kInfinity != Infinity::ieee) {
      magnitude = given > Format::kLargestAsFloat ? Format::kLargestAsFloat - Word{} : given;
    }
    constexpr uint32_t kHalf = (uint32_t{1} << (Format::kShift - 1)) - 1;
    const Word odd = (magnitude >> Format::kShift) & 1u;
    Word rounded = (magnitude + (kHalf - Format::kRebias) + odd) >> Format::kShift;
    if constexpr (Format::kInfinity == Infinity::ieee) {
      rounded = rounded > Format::kExponentMask ? Format::kExponentMask - Word{} : rounded;
    }
    if constexpr (Format::kNarrowExponent) {
      const float magic = __builtin_bit_cast(float, Format::kSubnormalMagic);
      const Word subnormal = (Word)((Value)magnitude + magic) - Format::kSubnormalMagic;
      rounded = magnitude < Format::kSmallestNormalAsFloat ? subnormal : rounded;
    }
    rounded |= (bits >> (32 - Format::kWidth)) & Format::kSign;
    rounded = given > 0x7f800000u ? Format::kNan - Word{} : rounded;
    storeVector(to, __builtin_convertvector(rounded, Stored));
  }
};

}  // namespace
}  // namespace dfccl::reduce_copy
