#pragma once
// float16, bfloat16 and the two float8 formats: how they widen to float32 and how a float32 rounds to them. The CPU's
// reference, its kernels' tests and the GPU share these, so a value has the same bits everywhere.
#include <cstdint>

#include "base/host_device.hpp"

namespace dfccl {

enum class Infinity : uint8_t {
  ieee,       // the largest exponent holds infinity and NaN; what is too large rounds to infinity
  saturated,  // as ieee when read, but rounding stops at the largest finite value (float8 e5m2, as CUDA's SATFINITE)
  absent,     // no infinity; only the pattern of all ones is NaN; rounding stops at the largest finite value (e4m3)
};

/// One format of at most 16 bits: sign, exponent, fraction. The exponent's bias is IEEE's, 2^(exponentBits - 1) - 1.
template <class BitsType, int kExponentBits, int kFractionBits, Infinity kInfinityKind>
struct SmallFloat {
  using Bits = BitsType;

  static constexpr int kWidth = 1 + kExponentBits + kFractionBits;
  static constexpr int kFraction = kFractionBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr Infinity kInfinity = kInfinityKind;
  static constexpr int kShift = 23 - kFractionBits;  // how many fraction bits of a float32 rounding drops
  static constexpr uint32_t kSign = uint32_t{1} << (kWidth - 1);
  static constexpr uint32_t kExponentMask = ((uint32_t{1} << kExponentBits) - 1) << kFractionBits;
  static constexpr bool kHasInfinity = kInfinityKind != Infinity::absent;
  static constexpr uint32_t kLargest = kHasInfinity ? kExponentMask - 1 : kSign - 2;
  /// The NaN of every arithmetic result: positive, all ones, as the GPU's own conversions give.
  static constexpr uint32_t kNan = kSign - 1;
  /// Added to a shifted pattern it turns this format's exponent into a float32's.
  static constexpr uint32_t kRebias = static_cast<uint32_t>(127 - kBias) << 23;
  /// Whether this format's smallest normal is larger than float32's, so that its subnormals are float32 normals.
  static constexpr bool kNarrowExponent = kBias < 127;
  static constexpr uint32_t kSmallestNormalAsFloat = static_cast<uint32_t>(128 - kBias) << 23;
  static constexpr uint32_t kLargestAsFloat = (kLargest << kShift) + kRebias;
  /// A float32 whose last place is this format's smallest subnormal: adding it rounds to a multiple of that.
  static constexpr uint32_t kSubnormalMagic = static_cast<uint32_t>(kBias < 127 ? 151 - kBias - kFractionBits : 0)
                                              << 23;

  Bits bits;
};

using Float16 = SmallFloat<uint16_t, 5, 10, Infinity::ieee>;
using BFloat16 = SmallFloat<uint16_t, 8, 7, Infinity::ieee>;
using Float8E4M3 = SmallFloat<uint8_t, 4, 3, Infinity::absent>;
using Float8E5M2 = SmallFloat<uint8_t, 5, 2, Infinity::saturated>;

/// The NaN that every arithmetic result of reduceCopy has in float32 and float64: positive, all ones, as on a GPU.
inline constexpr uint32_t kNan32 = 0x7fffffff;
inline constexpr uint64_t kNan64 = 0x7fffffffffffffff;

/// The float32 of the same value; exact, since every format here is a subset of float32. NaN stays NaN.
template <class F>
DFCCL_HD constexpr float widen(F value) {
  const uint32_t magnitude = value.bits & (F::kSign - 1);
  const uint32_t sign = (value.bits & F::kSign) << (32 - F::kWidth);
  const uint32_t shifted = magnitude << F::kShift;
  const bool isSpecial = F::kHasInfinity ? (magnitude & F::kExponentMask) == F::kExponentMask : magnitude == F::kNan;
  if (isSpecial) return __builtin_bit_cast(float, sign | 0x7f800000u | shifted);
  if (F::kNarrowExponent && (magnitude & F::kExponentMask) == 0) {
    // A subnormal: give it the smallest normal's exponent, then take the leading one away again.
    // Not const: nvcc 13.0 breaks off where it tries to fold these.
    float one = __builtin_bit_cast(float, F::kSmallestNormalAsFloat);
    float value32 = __builtin_bit_cast(float, F::kSmallestNormalAsFloat + shifted) - one;
    return __builtin_bit_cast(float, sign | __builtin_bit_cast(uint32_t, value32));
  }
  return __builtin_bit_cast(float, sign | (shifted + F::kRebias));
}

/// Rounds to nearest, ties to even. Too large: infinity, or the largest finite value where the format saturates.
/// NaN becomes F::kNan.
template <class F>
DFCCL_HD constexpr F roundTo(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t sign = (bits >> (32 - F::kWidth)) & F::kSign;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return F{static_cast<typename F::Bits>(F::kNan)};
  if (F::kInfinity != Infinity::ieee && magnitude > F::kLargestAsFloat) magnitude = F::kLargestAsFloat;
  uint32_t rounded = 0;
  if (F::kNarrowExponent && magnitude < F::kSmallestNormalAsFloat) {
    const float sum = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, F::kSubnormalMagic);
    rounded = __builtin_bit_cast(uint32_t, sum) - F::kSubnormalMagic;
  } else {
    const uint32_t half = (uint32_t{1} << (F::kShift - 1)) - 1;
    const uint32_t odd = (magnitude >> F::kShift) & 1;
    rounded = (magnitude - F::kRebias + half + odd) >> F::kShift;  // a carry out of the fraction raises the exponent
    if (F::kInfinity == Infinity::ieee && rounded > F::kExponentMask) rounded = F::kExponentMask;
  }
  return F{static_cast<typename F::Bits>(sign | rounded)};
}

}  // namespace dfccl
