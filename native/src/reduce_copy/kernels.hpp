#pragma once
// The kernels themselves, for vectors of kVectorBytes. Included as vectors.hpp says.
#include "integer_division.hpp"
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
  } else if constexpr (op == ReduceOp::bitAnd) {
    return a & b;
  } else if constexpr (op == ReduceOp::bitOr) {
    return a | b;
  } else if constexpr (op == ReduceOp::bitXor) {
    return a ^ b;
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

/// The sources of a call in local variables: a store through char* may change any memory that the compiler knows of,
/// the call included, and only what never had its address taken stays in registers. kCount = 0: any number.
template <class Lane, ReduceOp op, int kCount>
struct Sources {
  using Value = typename Lane::Value;
  using Scalar = typename Lane::Scalar;
  using Stored = typename Lane::Stored;

  const char* fixed[kCount == 0 ? 1 : kCount];
  const void* const* any;
  int anyCount;
  size_t offset;  // of `any`, in bytes
  const double* scales;
  bool isDivided;
  Scalar divisor;

  DFCCL_INLINE Sources(const KernelCall& call, size_t elementBytes)
      : any(call.sources),
        anyCount(call.sourceCount),
        offset(call.sourceOffset * elementBytes),
        scales(call.scales),
        isDivided(Lane::kIsFloat && op == ReduceOp::sum && call.divisor > 1),
        divisor(static_cast<Scalar>(call.divisor)) {
#pragma GCC unroll 8
    for (int k = 0; k < kCount; ++k) fixed[k] = static_cast<const char*>(call.sources[k]) + offset;
  }

  /// result[n] = vector n of what is `at` bytes into the operands, reduced, divided and rounded.
  template <int kVectors>
  DFCCL_INLINE void reduce(Stored (&result)[kVectors], size_t at) const {
    Value v[kVectors];
    const char* first = kCount != 0 ? fixed[0] : static_cast<const char*>(any[0]) + offset;
#pragma GCC unroll 8
    for (int n = 0; n < kVectors; ++n) v[n] = load(first, 0, at, n);
    if constexpr (kCount != 0) {
#pragma GCC unroll 8
      for (int k = 1; k < kCount; ++k) {
#pragma GCC unroll 8
        for (int n = 0; n < kVectors; ++n) v[n] = fold<Lane, op>(v[n], load(fixed[k], k, at, n));
      }
    } else {
#pragma GCC unroll 1
      for (int k = 1; k < anyCount; ++k) {
        const char* source = static_cast<const char*>(any[k]) + offset;
#pragma GCC unroll 8
        for (int n = 0; n < kVectors; ++n) v[n] = fold<Lane, op>(v[n], load(source, k, at, n));
      }
    }
#pragma GCC unroll 8
    for (int n = 0; n < kVectors; ++n) {
      if constexpr (Lane::kIsFloat) {
        if (isDivided) v[n] = v[n] / divisor;
      }
      result[n] = Lane::pack(flipForMax<Lane, op>(v[n]));
    }
  }

 private:
  DFCCL_INLINE Value load(const char* source, int k, size_t at, int n) const {
    const Value v = Lane::unpack(Lane::read(source + at + static_cast<size_t>(n) * Lane::kBytes));
    if constexpr (op == ReduceOp::scaledSum) {
      using Arithmetic = typename Lane::Arithmetic;
      return (Value)((Arithmetic)v * (Arithmetic)broadcast<Value>(convertScale<Scalar>(scales[k])));
    } else {
      return flipForMax<Lane, op>(v);
    }
  }
};

/// The destinations of a call, likewise: one in a register, or any number.
template <class Lane, bool kIsSingle>
struct Destinations {
  using Stored = typename Lane::Stored;

  char* single;
  void* const* any;
  int anyCount;
  size_t offset;

  DFCCL_INLINE Destinations(const KernelCall& call, size_t elementBytes)
      : single(static_cast<char*>(call.destinations[0]) + call.destinationOffset * elementBytes),
        any(call.destinations),
        anyCount(call.destinationCount),
        offset(call.destinationOffset * elementBytes) {}

  template <int kVectors>
  DFCCL_INLINE void store(const Stored (&v)[kVectors], size_t at) const {
    if constexpr (kIsSingle) {
      storeTo(single + at, v);
    } else {
#pragma GCC unroll 1
      for (int j = 0; j < anyCount; ++j) storeTo(static_cast<char*>(any[j]) + offset + at, v);
    }
  }

 private:
  template <int kVectors>
  DFCCL_INLINE static void storeTo(char* to, const Stored (&v)[kVectors]) {
#pragma GCC unroll 8
    for (int n = 0; n < kVectors; ++n) Lane::write(to + static_cast<size_t>(n) * Lane::kBytes, v[n]);
  }
};

template <int kVectors, class From, class To>
DFCCL_INLINE void reduceGroup(const From& sources, const To& destinations, size_t at) {
  typename From::Stored v[kVectors];
  sources.reduce(v, at);
  destinations.store(v, at);
}

template <class T>
constexpr int kFullLanes = static_cast<int>(kVectorBytes / kWidestBytes<T>);

/// At least one vector. The last one may overlap the one before: it is reduced first, while no destination has been
/// written yet (one may be a source), and stored last.
template <class T, ReduceOp op, int kSourceCount, bool kIsSingle>
[[gnu::noinline]] void reduceMany(const KernelCall& call) {
  using Lane = AllLanes<T, kFullLanes<T>>;
  constexpr int kVectors = std::is_class_v<T> ? 2 : 4;
  constexpr size_t kStep = Lane::kBytes;
  const Sources<Lane, op, kSourceCount> sources(call, sizeof(T));
  const Destinations<Lane, kIsSingle> destinations(call, sizeof(T));
  const size_t bytes = call.count * sizeof(T);
  typename Lane::Stored last[1];
  sources.reduce(last, bytes - kStep);
  size_t at = 0;
  for (; at + kStep * kVectors <= bytes; at += kStep * kVectors) reduceGroup<kVectors>(sources, destinations, at);
  for (; at + kStep <= bytes; at += kStep) reduceGroup<1>(sources, destinations, at);
  destinations.store(last, bytes - kStep);
}

/// Less than one vector: two that may overlap, of the largest size below that fits.
template <class T, ReduceOp op, int kLanes>
[[gnu::noinline]] void reduceFew(const KernelCall& call) {
  if constexpr (kLanes > 1) {
    if (call.count < kLanes) return reduceFew<T, op, kLanes / 2>(call);
  }
  using Lane = std::conditional_t<kLanes == 1, FirstLane<T>, AllLanes<T, kLanes>>;
  const Sources<Lane, op, 0> sources(call, sizeof(T));
  const Destinations<Lane, false> destinations(call, sizeof(T));
  const size_t lastAt = (call.count - kLanes) * sizeof(T);
  typename Lane::Stored first[1];
  typename Lane::Stored last[1];
  sources.reduce(first, 0);
  if constexpr (kLanes > 1) sources.reduce(last, lastAt);
  destinations.store(first, 0);
  if constexpr (kLanes > 1) destinations.store(last, lastAt);
}

template <class T, ReduceOp op, int kSourceCount>
DFCCL_INLINE void reduceFixed(const KernelCall& call) {
  if (call.destinationCount == 1) return reduceMany<T, op, kSourceCount, true>(call);
  return reduceMany<T, op, kSourceCount, false>(call);
}

/// @pre count >= 1
template <class T, ReduceOp op>
void reduceAny(const KernelCall& call) {
  if (call.count < kFullLanes<T>) return reduceFew<T, op, kFullLanes<T> / 2>(call);
  // Kernels of their own for the sums that occur most: each costs about 1 KB of code.
  if constexpr (op == ReduceOp::sum && kUnrollsSources) {
    if (call.sourceCount == 2) return reduceFixed<T, op, 2>(call);
    if (call.sourceCount == 3) return reduceFixed<T, op, 3>(call);
    if (call.sourceCount == 4) return reduceFixed<T, op, 4>(call);
    if (call.sourceCount == 8) return reduceFixed<T, op, 8>(call);
  }
  return reduceMany<T, op, 0, false>(call);
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
  if constexpr (std::is_integral_v<T>) {
    row[static_cast<int>(ReduceOp::bitAnd)] = reduceAny<Unsigned, ReduceOp::bitAnd>;
    row[static_cast<int>(ReduceOp::bitOr)] = reduceAny<Unsigned, ReduceOp::bitOr>;
    row[static_cast<int>(ReduceOp::bitXor)] = reduceAny<Unsigned, ReduceOp::bitXor>;
  }
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
