#pragma once
// The kernels themselves, for vectors of kVectorBytes. Included as vector_lanes.hpp is.
#include "vector_lanes.hpp"

namespace dfccl::reduce_copy {
namespace {

// max is min of the negated values, so that both orders of zeros and NaN come from one trick.
template <class Lane, ReduceOp op>
DFCCL_INLINE typename Lane::Value flipForMax(typename Lane::Value v) {
  if constexpr (Lane::kIsFloat && op == ReduceOp::max) return -v;
  return v;
}

template <class Lane, ReduceOp op>
DFCCL_INLINE typename Lane::Value fold(typename Lane::Value a, typename Lane::Value b) {
  if constexpr (op == ReduceOp::prod) {
    return (typename Lane::Value)((typename Lane::Arithmetic)a * (typename Lane::Arithmetic)b);
  } else if constexpr (op == ReduceOp::sum || op == ReduceOp::scaledSum) {
    return (typename Lane::Value)((typename Lane::Arithmetic)a + (typename Lane::Arithmetic)b);
  } else if constexpr (Lane::kIsFloat) {
    // A comparison with NaN or between zeros is false and yields its second operand. Asking in both directions and
    // joining the bits keeps the NaN (its exponent is all ones) and the zero that is negative; other values agree.
    using Word = decltype(a < b);
    return (typename Lane::Value)((Word)(a < b ? a : b) | (Word)(b < a ? b : a));
  } else if constexpr (op == ReduceOp::min) {
    return a < b ? a : b;
  } else {
    return a > b ? a : b;
  }
}

template <class Lane, ReduceOp op>
DFCCL_INLINE typename Lane::Value loadSource(const KernelCall& call, int source, size_t index) {
  const char* from = static_cast<const char*>(call.sources[source]);
  const auto v = Lane::load(from + (call.sourceOffset + index) * Lane::kElementBytes);
  if constexpr (op == ReduceOp::scaledSum) {
    using Arithmetic = typename Lane::Arithmetic;
    const auto scale = convertScale<typename Lane::Scalar>(call.scales[source]) - typename Lane::Value{};
    return (typename Lane::Value)((Arithmetic)v * (Arithmetic)scale);
  } else {
    return flipForMax<Lane, op>(v);
  }
}

template <class Lane, ReduceOp op>
DFCCL_INLINE typename Lane::Value finish(const KernelCall& call, typename Lane::Value v) {
  if constexpr (Lane::kIsFloat) {
    if constexpr (op == ReduceOp::sum) {
      if (call.divisor > 1) v = v / static_cast<typename Lane::Scalar>(call.divisor);
    }
    constexpr int kLaneCount = sizeof(v) / sizeof(typename Lane::Scalar);
    return withCanonicalNan<kLaneCount>(flipForMax<Lane, op>(v));
  } else {
    return v;
  }
}

template <class Lane>
DFCCL_INLINE void storeTo(const KernelCall& call, int destination, size_t index, typename Lane::Value v) {
  char* to = static_cast<char*>(call.destinations[destination]);
  Lane::store(to + (call.destinationOffset + index) * Lane::kElementBytes, v);
}

/// kVectors vectors starting at `index`, reduced and finished. kSources = 0: as many as the call says.
template <class Lane, ReduceOp op, int kSources, int kVectors>
struct Group {
  using Value = typename Lane::Value;
  static constexpr size_t kLanes = sizeof(Value) / sizeof(typename Lane::Scalar);
  Value v[kVectors];

  DFCCL_INLINE void reduce(const KernelCall& call, size_t index) {
    const int sources = kSources != 0 ? kSources : call.sourceCount;
#pragma GCC unroll 8
    for (int n = 0; n < kVectors; ++n) v[n] = loadSource<Lane, op>(call, 0, index + n * kLanes);
#pragma GCC unroll 8
    for (int k = 1; k < sources; ++k) {
#pragma GCC unroll 8
      for (int n = 0; n < kVectors; ++n) {
        v[n] = fold<Lane, op>(v[n], loadSource<Lane, op>(call, k, index + n * kLanes));
      }
    }
#pragma GCC unroll 8
    for (int n = 0; n < kVectors; ++n) v[n] = finish<Lane, op>(call, v[n]);
  }

  DFCCL_INLINE void store(const KernelCall& call, size_t index) const {
    for (int j = 0; j < call.destinationCount; ++j) {
#pragma GCC unroll 8
      for (int n = 0; n < kVectors; ++n) storeTo<Lane>(call, j, index + n * kLanes, v[n]);
    }
  }
};

template <class T, ReduceOp op, int kSources>
void reduceSources(const KernelCall& call) {
  constexpr size_t kWidest = std::is_class_v<T> ? sizeof(float) : sizeof(T);
  constexpr int kLanes = static_cast<int>(kVectorBytes / kWidest);
  constexpr int kVectors = std::is_class_v<T> ? 2 : 4;
  using Many = Group<Lanes<T, kLanes>, op, kSources, kVectors>;
  using One = Group<Lanes<T, kLanes>, op, kSources, 1>;
  using Single = Group<Lanes<T, 1>, op, kSources, 1>;

  const size_t count = call.count;
  if (count < kLanes) {
    for (size_t i = 0; i < count; ++i) {
      Single group;
      group.reduce(call, i);
      group.store(call, i);
    }
    return;
  }
  // The last vector may overlap the one before. It is reduced first, while no destination has been written yet (one may
  // be a source), and stored last.
  One last;
  last.reduce(call, count - kLanes);
  size_t i = 0;
  for (; i + kLanes * kVectors <= count; i += kLanes * kVectors) {
    Many group;
    group.reduce(call, i);
    group.store(call, i);
  }
  for (; i + kLanes <= count; i += kLanes) {
    One group;
    group.reduce(call, i);
    group.store(call, i);
  }
  last.store(call, count - kLanes);
}

/// Source counts that occur most are unrolled; sum most of all.
template <class T, ReduceOp op>
void reduceAny(const KernelCall& call) {
  if (call.sourceCount == 2) return reduceSources<T, op, 2>(call);
  if constexpr (op == ReduceOp::sum) {
    if (call.sourceCount == 3) return reduceSources<T, op, 3>(call);
    if (call.sourceCount == 4) return reduceSources<T, op, 4>(call);
    if (call.sourceCount == 8) return reduceSources<T, op, 8>(call);
  }
  return reduceSources<T, op, 0>(call);
}

/// Division of integers by way of a float type that holds every quotient's distance to the next integer: float32 for 8
/// bits, float64 for 32. Rounding the quotient can't reach an integer, so truncation is exact.
template <class T>
void divideIntegers(void* data, size_t count, uint32_t divisor) {
  using Real = std::conditional_t<sizeof(T) == 1, float, double>;
  constexpr int kLanes = static_cast<int>(kVectorBytes / sizeof(Real));
  using Stored = Vector<T, kLanes>;
  using Word = Vector<int32_t, kLanes>;
  using Reals = Vector<Real, kLanes>;
  // uint32 goes through int32 and is moved back by 2^31 as a float64; its quotients are below 2^31 (divisor >= 2).
  constexpr bool kIsUnsigned32 = std::is_same_v<T, uint32_t>;
  const auto divideVector = [divisor](Stored v) __attribute__((always_inline)) {
    Word word = __builtin_convertvector(v, Word);
    if constexpr (kIsUnsigned32) word = (Word)((Vector<uint32_t, kLanes>)word ^ 0x80000000u);
    Reals real = __builtin_convertvector(word, Reals);
    if constexpr (kIsUnsigned32) real = real + static_cast<Real>(2147483648.0);
    real = real / static_cast<Real>(divisor);
    return __builtin_convertvector(__builtin_convertvector(real, Word), Stored);
  };
  char* at = static_cast<char*>(data);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    storeVector(at + i * sizeof(T), divideVector(loadVector<Stored>(at + i * sizeof(T))));
  }
  if (i < count) {
    Stored rest{};
    __builtin_memcpy(&rest, at + i * sizeof(T), (count - i) * sizeof(T));
    rest = divideVector(rest);
    __builtin_memcpy(at + i * sizeof(T), &rest, (count - i) * sizeof(T));
  }
}

/// 64-bit division by multiplication with floor((2^64 - 1) / divisor): at most one too small, which is put right.
template <class T>
void divideIntegers64(void* data, size_t count, uint32_t divisor) {
  const uint64_t reciprocal = ~uint64_t{0} / divisor;
  char* at = static_cast<char*>(data);
  for (size_t i = 0; i < count; ++i, at += sizeof(T)) {
    T value;
    __builtin_memcpy(&value, at, sizeof value);
    const bool isNegative = std::is_signed_v<T> && value < 0;
    const uint64_t magnitude = isNegative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    __extension__ using Wide = unsigned __int128;
    uint64_t quotient = static_cast<uint64_t>((static_cast<Wide>(magnitude) * reciprocal) >> 64);
    quotient += magnitude - quotient * divisor >= divisor;
    value = static_cast<T>(isNegative ? uint64_t{0} - quotient : quotient);
    __builtin_memcpy(at, &value, sizeof value);
  }
}

template <class T, class Unsigned = T>
constexpr void fillRow(KernelFamily& family, DataType type) {
  ReduceKernel* row = family.reduce[static_cast<int>(type)];
  row[static_cast<int>(ReduceOp::sum)] = reduceAny<Unsigned, ReduceOp::sum>;
  row[static_cast<int>(ReduceOp::avg)] = reduceAny<Unsigned, ReduceOp::sum>;
  row[static_cast<int>(ReduceOp::prod)] = reduceAny<Unsigned, ReduceOp::prod>;
  row[static_cast<int>(ReduceOp::min)] = reduceAny<T, ReduceOp::min>;
  row[static_cast<int>(ReduceOp::max)] = reduceAny<T, ReduceOp::max>;
  row[static_cast<int>(ReduceOp::scaledSum)] = reduceAny<T, ReduceOp::scaledSum>;
}

constexpr KernelFamily makeFamily(const char* name, bool (*isSupported)(), StreamKernel stream, void (*fence)()) {
  KernelFamily family{name, isSupported, {}, {}, stream, fence};
  fillRow<int8_t, uint8_t>(family, DataType::int8);
  fillRow<uint8_t>(family, DataType::uint8);
  fillRow<int32_t, uint32_t>(family, DataType::int32);
  fillRow<uint32_t>(family, DataType::uint32);
  fillRow<int64_t, uint64_t>(family, DataType::int64);
  fillRow<uint64_t>(family, DataType::uint64);
  fillRow<Float16>(family, DataType::float16);
  fillRow<float>(family, DataType::float32);
  fillRow<double>(family, DataType::float64);
  fillRow<BFloat16>(family, DataType::bfloat16);
  fillRow<Float8E4M3>(family, DataType::float8e4m3);
  fillRow<Float8E5M2>(family, DataType::float8e5m2);
  family.divide[static_cast<int>(DataType::int8)] = divideIntegers<int8_t>;
  family.divide[static_cast<int>(DataType::uint8)] = divideIntegers<uint8_t>;
  family.divide[static_cast<int>(DataType::int32)] = divideIntegers<int32_t>;
  family.divide[static_cast<int>(DataType::uint32)] = divideIntegers<uint32_t>;
  family.divide[static_cast<int>(DataType::int64)] = divideIntegers64<int64_t>;
  family.divide[static_cast<int>(DataType::uint64)] = divideIntegers64<uint64_t>;
  return family;
}

}  // namespace
}  // namespace dfccl::reduce_copy
