#pragma once
// What avg divides integers with, in place. Included as vectors.hpp says.
#include "vector_lanes.hpp"

namespace dfccl::reduce_copy {
namespace {

/// Division of integers by way of a float type that holds every quotient's distance to the next integer: float32 for 8
/// bits, float64 for 32. Rounding the quotient can't reach an integer, so truncation is exact.
template <class T, int L>
DFCCL_INLINE Vector<T, L> divideLanes(Vector<T, L> v, uint32_t divisor) {
  using Word = Vector<int32_t, L>;
  if constexpr (sizeof(T) == 1) {
    Word word = (Word)zeroExtend<uint8_t, L>((Vector<uint8_t, L>)v);
    if constexpr (std::is_signed_v<T>) word = word << 24 >> 24;
    const auto real = __builtin_convertvector(word, Vector<float, L>) / static_cast<float>(divisor);
    word = __builtin_convertvector(real, Word) & 0xff;
    return (Vector<T, L>)narrowTo<uint8_t, L>((Vector<uint32_t, L>)word);
  } else {
    // uint32 goes through int32 and is moved back by 2^31 as a float64; its quotients are below 2^31 (divisor >= 2).
    constexpr bool kIsSigned = std::is_signed_v<T>;
    const Word word = kIsSigned ? (Word)v : (Word)(v ^ static_cast<T>(0x80000000u));
    auto real = __builtin_convertvector(word, Vector<double, L>);
    if constexpr (!kIsSigned) real = real + 2147483648.0;
    return (Vector<T, L>)__builtin_convertvector(real / static_cast<double>(divisor), Word);
  }
}

template <class T>
void divideIntegers(void* data, size_t count, uint32_t divisor) {
  constexpr int kLanes = static_cast<int>(kVectorBytes / (sizeof(T) == 1 ? sizeof(float) : sizeof(double)));
  using Lane = Vector<T, kLanes>;
  char* at = static_cast<char*>(data);
  for (; count >= kLanes; count -= kLanes, at += sizeof(Lane)) {
    storeVector(at, divideLanes<T, kLanes>(loadVector<Lane>(at), divisor));
  }
  if (count > 0) {
    Lane rest{};
    __builtin_memcpy(&rest, at, count * sizeof(T));
    rest = divideLanes<T, kLanes>(rest, divisor);
    __builtin_memcpy(at, &rest, count * sizeof(T));
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

}  // namespace
}  // namespace dfccl::reduce_copy
