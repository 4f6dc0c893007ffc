// The definition of reduceCopy's bits: one element after another, no vectors, no cleverness.
#include <cstring>
#include <type_traits>

#include "dfccl/numeric/small_float.hpp"
#include "dfccl/reduce_copy.hpp"
#include "scalar.hpp"

// A multiplication and an addition must round twice: contracted into one instruction, they would give other bits on a
// CPU that has it.
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

namespace dfccl {
namespace {

// What an element is reduced in: small floats in float32, integers unsigned of their width (which wraps).
template <class T>
struct Element {
  using Value = T;
  static T read(T stored) { return stored; }
  static T write(T value) { return value; }
};

template <class B, int e, int f, Infinity i>
struct Element<SmallFloat<B, e, f, i>> {
  using Value = float;
  static float read(SmallFloat<B, e, f, i> stored) { return widen(stored); }
  static SmallFloat<B, e, f, i> write(float value) { return roundTo<SmallFloat<B, e, f, i>>(value); }
};

template <class T>
T wrappingAdd(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T>
T wrappingMultiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

// Whether a comes before b: numbers by value, -0 before +0. Neither is NaN.
template <class T>
bool isLess(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b) return __builtin_signbit(a) && !__builtin_signbit(b);
  }
  return a < b;
}

template <class T>
T fold(ReduceOp op, T a, T b) {
  if (op == ReduceOp::prod) return wrappingMultiply(a, b);
  if (op == ReduceOp::min || op == ReduceOp::max) {
    if (a != a) return a;
    if (b != b) return b;
    return isLess(a, b) == (op == ReduceOp::min) ? a : b;
  }
  return wrappingAdd(a, b);
}

template <class T>
T divide(T value, uint32_t divisor) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return value / divisor;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int64_t>(value) / static_cast<int64_t>(divisor));
  } else {
    return value / static_cast<T>(divisor);
  }
}

template <class T>
T withCanonicalNan(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return value == value ? value : __builtin_bit_cast(float, kNan32);
  } else if constexpr (std::is_same_v<T, double>) {
    return value == value ? value : __builtin_bit_cast(double, kNan64);
  } else {
    return value;
  }
}

template <class T>
T loadElement(const void* base, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void reduceElements(ReduceOp op, const ReduceCopyArgs& args) {
  using Value = typename Element<T>::Value;
  const bool isScaled = op == ReduceOp::scaledSum && args.scales != nullptr;
  const bool isDivided = op == ReduceOp::avg && args.divisor > 1;
  for (size_t i = 0; i < args.count; ++i) {
    T result = loadElement<T>(args.sources[0], i);
    if (args.sourceCount > 1 || isScaled || isDivided) {
      Value value{};
      for (int k = 0; k < args.sourceCount; ++k) {
        Value next = Element<T>::read(loadElement<T>(args.sources[k], i));
        if (isScaled) next = wrappingMultiply(next, reduce_copy::convertScale<Value>(args.scales[k]));
        value = k == 0 ? next : fold(op, value, next);
      }
      if (isDivided) value = divide(value, args.divisor);
      result = Element<T>::write(withCanonicalNan(value));
    }
    for (int j = 0; j < args.destinationCount; ++j) {
      std::memcpy(static_cast<char*>(args.destinations[j]) + i * sizeof(T), &result, sizeof(T));
    }
  }
}

}  // namespace

void reduceCopyReference(DataType type, ReduceOp op, const ReduceCopyArgs& args) {
  switch (type) {
    case DataType::int8:
      return reduceElements<int8_t>(op, args);
    case DataType::uint8:
      return reduceElements<uint8_t>(op, args);
    case DataType::int32:
      return reduceElements<int32_t>(op, args);
    case DataType::uint32:
      return reduceElements<uint32_t>(op, args);
    case DataType::int64:
      return reduceElements<int64_t>(op, args);
    case DataType::uint64:
      return reduceElements<uint64_t>(op, args);
    case DataType::float16:
      return reduceElements<Float16>(op, args);
    case DataType::float32:
      return reduceElements<float>(op, args);
    case DataType::float64:
      return reduceElements<double>(op, args);
    case DataType::bfloat16:
      return reduceElements<BFloat16>(op, args);
    case DataType::float8e4m3:
      return reduceElements<Float8E4M3>(op, args);
    case DataType::float8e5m2:
      return reduceElements<Float8E5M2>(op, args);
  }
}

}  // namespace dfccl
