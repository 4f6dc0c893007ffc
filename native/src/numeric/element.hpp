#pragma once
// What reduceCopy does to one element: the definition of its bits, for the CPU's reference and for the GPU.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "numeric/small_float.hpp"

namespace dfccl::element {

/// What an element is reduced in: small floats in float32, integers in their own width, where they wrap.
template <class T>
struct Element {
  using Value = T;
  DFCCL_HD static T read(T stored) { return stored; }
  DFCCL_HD static T write(T value) { return value; }
};

template <class B, int e, int f, Infinity i>
struct Element<SmallFloat<B, e, f, i>> {
  using Value = float;
  DFCCL_HD static float read(SmallFloat<B, e, f, i> stored) { return widen(stored); }
  DFCCL_HD static SmallFloat<B, e, f, i> write(float value) { return roundTo<SmallFloat<B, e, f, i>>(value); }
};

template <class T>
DFCCL_HD T wrappingAdd(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T>
DFCCL_HD T wrappingMultiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

template <class T>
DFCCL_HD bool hasSign(T value) {
  if constexpr (sizeof(T) == 4) {
    return (__builtin_bit_cast(uint32_t, value) >> 31) != 0;
  } else {
    return (__builtin_bit_cast(uint64_t, value) >> 63) != 0;
  }
}

/// Whether a comes before b: numbers by value, -0 before +0. Neither is NaN.
template <class T>
DFCCL_HD bool isLess(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b) return hasSign(a) && !hasSign(b);
  }
  return a < b;
}

template <class T>
DFCCL_HD T fold(ReduceOp op, T a, T b) {
  if (op == ReduceOp::prod) return wrappingMultiply(a, b);
  if (op == ReduceOp::min || op == ReduceOp::max) {
    if (a != a) return a;
    if (b != b) return b;
    return isLess(a, b) == (op == ReduceOp::min) ? a : b;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == ReduceOp::bitAnd) return static_cast<T>(a & b);
    if (op == ReduceOp::bitOr) return static_cast<T>(a | b);
    if (op == ReduceOp::bitXor) return static_cast<T>(a ^ b);
  }
  return wrappingAdd(a, b);
}

template <class T>
DFCCL_HD T divide(T value, uint32_t divisor) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return value / divisor;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int64_t>(value) / static_cast<int64_t>(divisor));
  } else {
    return value / static_cast<T>(divisor);
  }
}

template <class T>
DFCCL_HD T withCanonicalNan(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return value == value ? value : __builtin_bit_cast(float, kNan32);
  } else if constexpr (std::is_same_v<T, double>) {
    return value == value ? value : __builtin_bit_cast(double, kNan64);
  } else {
    return value;
  }
}

/// A scale as an element type: floats round to nearest; integers truncate towards zero and saturate (a plain cast would
/// be undefined outside the type's range).
template <class T>
DFCCL_HD constexpr T convertScale(double scale) {
  if constexpr (std::is_integral_v<T>) {
    // The range's ends as doubles; max() itself may round up to the power of two above it, hence >=.
    if (scale >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    if (scale <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (scale != scale) return 0;
  }
  return static_cast<T>(scale);
}

}  // namespace dfccl::element
