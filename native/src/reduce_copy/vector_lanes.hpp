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
  using Element = T;
  // Signed integers wrap by adding and multiplying as unsigned.
  using Arithmetic =
      Vector<typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type, L>;
  static constexpr bool kIsFloat = std::is_floating_point_v<T>;

  DFCCL_INLINE static Value unpack(Stored stored) { return stored; }

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
  using Element = B;
  using Arithmetic = Value;
  using Word = Vector<uint32_t, L>;
  static constexpr bool kIsFloat = true;

  DFCCL_INLINE static Value unpack(Stored stored) {
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

/// Bytes of an element where it is widest: in memory, or as it is reduced.
template <class T>
constexpr size_t kWidestBytes = sizeof(typename Lanes<T, 1>::Scalar);

/// L elements of memory as L lanes.
template <class T, int L>
struct AllLanes : Lanes<T, L> {
  using Stored = typename Lanes<T, L>::Stored;
  static constexpr size_t kBytes = sizeof(Stored);
  DFCCL_INLINE static Stored read(const char* from) { return loadVector<Stored>(from); }
  DFCCL_INLINE static void write(char* to, Stored v) { storeVector(to, v); }
};

/// One element of memory, in the first lane of a register: compilers keep a vector of a single lane in memory.
template <class T>
struct FirstLane : Lanes<T, static_cast<int>(16 / kWidestBytes<T>)> {
  using Base = Lanes<T, static_cast<int>(16 / kWidestBytes<T>)>;
  using Stored = typename Base::Stored;
  using Element = typename Base::Element;
  static constexpr size_t kBytes = sizeof(Element);

  DFCCL_INLINE static Stored read(const char* from) {
    Element element;
    __builtin_memcpy(&element, from, sizeof element);
    Stored v{};
    v[0] = element;
    return v;
  }

  DFCCL_INLINE static void write(char* to, Stored v) {
    const Element element = v[0];
    __builtin_memcpy(to, &element, sizeof element);
  }
};

}  // namespace
}  // namespace dfccl::reduce_copy
