#pragma once
// Conversions of the caller's scalars that the reference and the kernels must agree on.
#include <limits>
#include <type_traits>

namespace dfccl::reduce_copy {

/// A scale as an element type: floats round to nearest; integers truncate towards zero and saturate (a plain cast would
/// be undefined outside the type's range). Always inlined: shared by files compiled for different instructions.
template <class T>
[[gnu::always_inline]] constexpr T convertScale(double scale) {
  if constexpr (std::is_integral_v<T>) {
    // The range's ends as doubles; max() itself may round up to the power of two above it, hence >=.
    if (scale >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    if (scale <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (scale != scale) return 0;
  }
  return static_cast<T>(scale);
}

}  // namespace dfccl::reduce_copy
