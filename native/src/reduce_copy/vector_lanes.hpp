#pragma once
// How each element type gets into vectors and out of them.
#include "x86_conversions.hpp"

namespace dfccl::reduce_copy {
namespace {

template <class B, int L>
DFCCL_INLINE Vector<uint32_t, L> zeroExtend(Vector<B, L> narrow) {
  if constexpr (hasFastExtension<B, L>()) {
    return (Vector<uint32_t, L>)fastExtend<B, L>(narrow);
  } else {
    return __builtin_convertvector(narrow, Vector<uint32_t, L>);
  }
}

/// Keeps the low bits of each lane; the rest are zeros already.
template <class B, int L>
DFCCL_INLINE Vector<B, L> narrowTo(Vector<uint32_t, L> wide) {
  if constexpr (hasFastExtension<B, L>()) {
    return fastNarrow<B, L>(wide);
  } else {
    return __builtin_convertvector(wide, Vector<B, L>);
  }
}

/// An element type as the kernels see it: `load` gives what is reduced, `pack` rounds that to what is stored, with
/// every NaN made canonical. Here integers, float32 and float64, which are reduced as they are stored.
template <class T, int L>
struct Lanes {
  using Scalar = T;
  using Value = Vector<T, L>;
  using Stored = Value;
  // Signed integers wrap by adding and multiplying as unsigned.
  using Arithmetic =
      Vector<typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type, L>;
  static constexpr bool kIsFloat = std::is_floating_point_v<T>;

  DFCCL_INLINE static Value load(const char* from) { return loadVector<Value>(from); }

  DFCCL_INLINE static Stored pack(Value value) {
    if constexpr (std::is_same_v<T, float>) {
      return value == value ? value : broadcast<Value>(__builtin_bit_cast(float, kNan32));
    } else if constexpr (std::is_same_v<T, double>) {
      return value == value ? value : broadcast<Value>(__builtin_bit_cast(double, kNan64));
    } else {
      return value;
    }
  }
};

/// float16, bfloat16, float8: L elements widened to L float32. The same steps as widen() and roundTo(), for all lanes
/// at once and with selections instead of branches.
template <class B, int e, int f, Infinity i, int L>
struct Lanes<SmallFloat<B, e, f, i>, L> {
  using Format = SmallFloat<B, e, f, i>;
  using Scalar = float;
  using Value = Vector<float, L>;
  using Stored = Vector<B, L>;
  using Arithmetic = Value;
  using Word = Vector<uint32_t, L>;
  static constexpr bool kIsFloat = true;

  DFCCL_INLINE static Value load(const char* from) {
    const Stored stored = loadVector<Stored>(from);
    if constexpr (std::is_same_v<Format, Float16> && hasHalfConversion<L>()) {
      return halfToFloat<L>(stored);
    } else if constexpr (!Format::kNarrowExponent) {
      return (Value)(zeroExtend<B, L>(stored) << Format::kShift);
    } else {
      return widenLanes(zeroExtend<B, L>(stored));
    }
  }

  DFCCL_INLINE static Stored pack(Value value) {
    if constexpr (std::is_same_v<Format, Float16> && hasHalfConversion<L>()) {
      return floatToHalf<L>(Lanes<float, L>::pack(value));
    } else if constexpr (!Format::kNarrowExponent) {
      // The canonical NaN, cut to a pattern that the rounding below leaves alone.
      const Word kNan = broadcast<Word>(Format::kNan << Format::kShift);
      const Word bits = value == value ? (Word)value : kNan;
      const Word odd = (bits >> Format::kShift) & 1u;
      return narrowTo<B, L>((bits + kHalf + odd) >> Format::kShift);
    } else {
      return narrowTo<B, L>(roundLanes(value));
    }
  }

 private:
  static constexpr uint32_t kHalf = (uint32_t{1} << (Format::kShift - 1)) - 1;

  DFCCL_INLINE static Value widenLanes(Word bits) {
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

  DFCCL_INLINE static Word roundLanes(Value value) {
    const Word bits = (Word)value;
    const Word given = bits & 0x7fffffffu;
    Word magnitude = given;
    if constexpr (Format::kInfinity != Infinity::ieee) {
      magnitude = given > Format::kLargestAsFloat ? broadcast<Word>(Format::kLargestAsFloat) : given;
    }
    const Word odd = (magnitude >> Format::kShift) & 1u;
    Word rounded = (magnitude + (kHalf - Format::kRebias) + odd) >> Format::kShift;
    if constexpr (Format::kInfinity == Infinity::ieee) {
      rounded = rounded > Format::kExponentMask ? broadcast<Word>(Format::kExponentMask) : rounded;
    }
    const float magic = __builtin_bit_cast(float, Format::kSubnormalMagic);
    const Word subnormal = (Word)((Value)magnitude + magic) - Format::kSubnormalMagic;
    rounded = magnitude < Format::kSmallestNormalAsFloat ? subnormal : rounded;
    rounded |= (bits >> (32 - Format::kWidth)) & Format::kSign;
    return value == value ? rounded : broadcast<Word>(Format::kNan);
  }
};

}  // namespace
}  // namespace dfccl::reduce_copy
