#pragma once
// Data whose reductions have the same bits in any order, so that results are compared bit by bit (as nccl-tests does):
// every partial result of any subset of the ranks is exactly representable.
//
//   float sums    whole numbers so small that all ranks' together fill the mantissa and no more
//   float prod    one rank's value uses the whole mantissa, a few others hold powers of two, the rest 1
//   avg           two ranks hold something, the others 0
//   float min max one rank's value lies beyond all others'
//   integers      any bits where the operator wraps; odd ones for products, which never collapse to 0
//
// Which rank holds what changes from element to element, so that no rank can be missing unseen.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "numeric/element.hpp"
#include "numeric/small_float.hpp"

namespace dfccl::bench {

/// Every bit of the result depends on every bit of the argument (the finaliser of splitmix64).
DFCCL_HD constexpr uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

template <class T>
struct ElementFormat {
  static constexpr bool kIsFloat = std::is_floating_point_v<T>;
  static constexpr int kMantissa = sizeof(T) == 8 ? 53 : 24;
};
template <class B, int e, int f, Infinity i>
struct ElementFormat<SmallFloat<B, e, f, i>> {
  static constexpr bool kIsFloat = true;
  static constexpr int kMantissa = f + 1;
};

/// Calls `visit` with a value of the C++ type that stores one element.
template <class Visit>
decltype(auto) withElement(DataType type, const Visit& visit) {
  switch (type) {
    case DataType::int8:
      return visit(int8_t{});
    case DataType::uint8:
      return visit(uint8_t{});
    case DataType::int32:
      return visit(int32_t{});
    case DataType::uint32:
      return visit(uint32_t{});
    case DataType::int64:
      return visit(int64_t{});
    case DataType::uint64:
      return visit(uint64_t{});
    case DataType::float16:
      return visit(Float16{});
    case DataType::float32:
      return visit(float{});
    case DataType::float64:
      return visit(double{});
    case DataType::bfloat16:
      return visit(BFloat16{});
    case DataType::float8e4m3:
      return visit(Float8E4M3{});
    case DataType::float8e5m2:
      break;
  }
  return visit(Float8E5M2{});
}

/// The scalar of a rank in scaled sums.
DFCCL_HD constexpr double scaleOf(uint32_t rank) { return rank % 2 == 0 ? 1 : 2; }

/// The inputs of all ranks for one collective, and what they reduce to. Values depend on (seed, rank, index) only.
class ExactData {
 public:
  ExactData(DataType type, ReduceOp op, uint32_t ranks, uint64_t seed)
      : type_(type), op_(op), ranks_(ranks), seed_(scramble(seed + 0x9e3779b97f4a7c15)) {}
  DataType type() const { return type_; }

  /// Elements first … first + count - 1 of a rank's input.
  void fill(void* out, uint64_t first, uint64_t count, uint32_t rank) const {
    withElement(type_, [&]<class T>(T) {
      for (uint64_t i = 0; i < count; ++i) static_cast<T*>(out)[i] = input<T>(rank, first + i);
    });
  }

  /// What the same elements of all ranks reduce to.
  void reduce(void* out, uint64_t first, uint64_t count) const {
    withElement(type_, [&]<class T>(T) {
      for (uint64_t i = 0; i < count; ++i) static_cast<T*>(out)[i] = reduced<T>(first + i);
    });
  }

  /// One element of a rank's input.
  template <class T>
  DFCCL_HD T input(uint32_t rank, uint64_t index) const {
    const uint64_t hash = hashOf(index);
    if constexpr (ElementFormat<T>::kIsFloat) {
      return encode<T>(value<T>(rank, hash));
    } else {
      return static_cast<T>(integer<T>(rank, hash));
    }
  }

  /// What that of all ranks reduces to.
  template <class T>
  DFCCL_HD T reduced(uint64_t index) const {
    const uint64_t hash = hashOf(index);
    if constexpr (ElementFormat<T>::kIsFloat) {
      using Value = typename element::Element<T>::Value;
      double result = scaled(0) * value<T>(0, hash);
      for (uint32_t r = 1; r < ranks_; ++r) result = fold(result, scaled(r) * value<T>(r, hash));
      if (op_ == ReduceOp::avg) result = static_cast<double>(element::divide(static_cast<Value>(result), ranks_));
      return encode<T>(result);
    } else {
      T result = times<T>(integer<T>(0, hash), 0);
      for (uint32_t r = 1; r < ranks_; ++r) result = foldIntegers(result, times<T>(integer<T>(r, hash), r));
      return op_ == ReduceOp::avg ? static_cast<T>(result / static_cast<T>(ranks_)) : result;
    }
  }

 private:
  template <class T>
  DFCCL_HD static T encode(double value) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(value);
    } else {
      return roundTo<T>(static_cast<float>(value));
    }
  }

  DFCCL_HD uint64_t hashOf(uint64_t index) const { return scramble(seed_ + index); }
  /// The rank's place in an order of the ranks that is another one for each element.
  DFCCL_HD uint32_t placeOf(uint64_t hash, uint32_t rank) const {
    return static_cast<uint32_t>((rank + (hash >> 33)) % ranks_);
  }

  template <class T>
  DFCCL_HD uint64_t integer(uint32_t rank, uint64_t hash) const {
    const uint64_t bits = scramble(hash ^ (rank + uint64_t{1}) * 0xd6e8feb86659fd93);
    if (op_ == ReduceOp::prod) return bits | 1;
    // Two ranks' bits show; more would soon be all zeros or all ones.
    if (op_ == ReduceOp::bitAnd) return placeOf(hash, rank) < 2 ? bits : ~uint64_t{0};
    if (op_ == ReduceOp::bitOr) return placeOf(hash, rank) < 2 ? bits : 0;
    if (op_ == ReduceOp::bitXor) return bits;
    if (op_ != ReduceOp::avg) return bits;
    // Two values that add up without wrapping, which a division would not forgive.
    return placeOf(hash, rank) < 2 ? (bits & static_cast<uint64_t>(std::numeric_limits<T>::max())) >> 1 : 0;
  }

  template <class T>
  DFCCL_HD double value(uint32_t rank, uint64_t hash) const {
    constexpr int kMantissa = ElementFormat<T>::kMantissa;
    const uint64_t bits = scramble(hash ^ (rank + uint64_t{1}) * 0xd6e8feb86659fd93);
    const double sign = (bits & 1) == 0 ? 1 : -1;
    const uint32_t place = placeOf(hash, rank);
    // One to `most`, with a sign: never 0, whose sign would depend on the order.
    const auto whole = [&](uint64_t most) { return sign * static_cast<double>(1 + (bits >> 1) % most); };
    constexpr uint64_t kFull = uint64_t{1} << kMantissa;
    switch (op_) {
      case ReduceOp::prod: {
        if (place == 0)
          return sign * std::ldexp(static_cast<double>(kFull / 2 + (bits >> 1) % (kFull / 2)), 1 - kMantissa);
        constexpr uint32_t kPowers = 4;  // more could leave the range of float8
        return place <= kPowers ? sign * ((bits & 2) == 0 ? 2.0 : 0.5) : sign;
      }
      case ReduceOp::min:
      case ReduceOp::max: {
        // One rank's value lies beyond all others', or a rank among many could always be covered by another.
        if (place != 0) return whole(kFull / 2 - 1);
        const auto beyond = static_cast<double>(kFull / 2 + (bits >> 1) % (kFull / 2));
        return op_ == ReduceOp::max ? beyond : -beyond;
      }
      case ReduceOp::avg:
        return place < 2 ? whole(ranks_ == 1 ? kFull - 1 : kFull / 2) : 0.0;
      case ReduceOp::sum:
      case ReduceOp::scaledSum: {
        const uint64_t scale = op_ == ReduceOp::scaledSum ? 2 : 1;
        const uint64_t most = kFull / (ranks_ * scale);
        if (most >= 1) return whole(most);
        return place < kFull / scale ? whole(1) : 0.0;
      }
      case ReduceOp::bitAnd:
      case ReduceOp::bitOr:
      case ReduceOp::bitXor:
        break;  // of integers alone
    }
    return 0;
  }

  DFCCL_HD double scaled(uint32_t rank) const { return op_ == ReduceOp::scaledSum ? scaleOf(rank) : 1; }
  template <class T>
  DFCCL_HD T times(uint64_t bits, uint32_t rank) const {
    return static_cast<T>(bits * static_cast<uint64_t>(scaled(rank)));
  }
  DFCCL_HD double fold(double a, double b) const {
    if (op_ == ReduceOp::prod) return a * b;
    if (op_ == ReduceOp::min) return std::min(a, b);
    if (op_ == ReduceOp::max) return std::max(a, b);
    return a + b;
  }
  template <class T>
  DFCCL_HD T foldIntegers(T a, T b) const {
    if (op_ == ReduceOp::prod) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    if (op_ == ReduceOp::min) return std::min(a, b);
    if (op_ == ReduceOp::max) return std::max(a, b);
    if (op_ == ReduceOp::bitAnd) return static_cast<T>(a & b);
    if (op_ == ReduceOp::bitOr) return static_cast<T>(a | b);
    if (op_ == ReduceOp::bitXor) return static_cast<T>(a ^ b);
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }

  DataType type_;
  ReduceOp op_;
  uint32_t ranks_;
  uint64_t seed_;
};

/// Elements that differ in any bit.
inline uint64_t differingElements(const void* got, const void* expected, uint64_t count, size_t elementBytes) {
  if (std::memcmp(got, expected, count * elementBytes) == 0) return 0;
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < count; ++i) {
    wrong += std::memcmp(static_cast<const char*>(got) + i * elementBytes,
                         static_cast<const char*>(expected) + i * elementBytes, elementBytes) != 0;
  }
  return wrong;
}

}  // namespace dfccl::bench
