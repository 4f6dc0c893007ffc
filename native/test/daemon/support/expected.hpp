#pragma once
// Test data, and what a collective must make of it. Values are small whole numbers, multiples of 12 where an average
// divides them, so that every order of reduction gives the same bits in every type.
#include <cstdint>
#include <cstring>
#include <vector>

#include "world/collective_spec.hpp"

namespace dfccl::test {

/// Element `i` of what a member contributes to one run.
inline uint32_t contribution(const CollectiveSpec& spec, uint32_t member, uint64_t run, uint64_t i) {
  uint64_t z = (uint64_t{spec.id.number} << 48) ^ (uint64_t{member} << 40) ^ (run << 24) ^ i;
  z = (z ^ (z >> 31)) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9;
  z ^= z >> 32;
  switch (spec.op) {
    case ReduceOp::prod:
      return 1 + z % 3;
    case ReduceOp::avg:
      return 12 * static_cast<uint32_t>(z % 6);
    default:
      return static_cast<uint32_t>(z % 20);
  }
}

/// A member's own scalar of scaledSum.
inline double scaleOf(uint32_t member) { return 1 + member % 3; }

inline uint32_t reduced(const CollectiveSpec& spec, uint64_t run, uint64_t i) {
  uint32_t result = 0;
  for (uint32_t m = 0; m < spec.ranks.size(); ++m) {
    const uint32_t value = contribution(spec, m, run, i);
    switch (spec.op) {
      case ReduceOp::prod:
        result = m == 0 ? value : result * value;
        break;
      case ReduceOp::min:
        result = m == 0 || value < result ? value : result;
        break;
      case ReduceOp::max:
        result = value > result ? value : result;
        break;
      case ReduceOp::scaledSum:
        result += value * static_cast<uint32_t>(scaleOf(m));
        break;
      case ReduceOp::bitAnd:
        result = m == 0 ? value : result & value;
        break;
      case ReduceOp::bitOr:
        result |= value;
        break;
      case ReduceOp::bitXor:
        result ^= value;
        break;
      case ReduceOp::sum:
      case ReduceOp::avg:
        result += value;
        break;
    }
  }
  return spec.op == ReduceOp::avg ? result / static_cast<uint32_t>(spec.ranks.size()) : result;
}

/// Element `i` of a member's result.
inline uint32_t expected(const CollectiveSpec& spec, uint32_t member, uint64_t run, uint64_t i) {
  const uint64_t n = spec.count;
  switch (spec.collective) {
    case Collective::allReduce:
    case Collective::reduce:
      return reduced(spec, run, i);
    case Collective::reduceScatter:
      return reduced(spec, run, member * n + i);
    case Collective::allGather:
    case Collective::gather:
      return contribution(spec, static_cast<uint32_t>(i / n), run, i % n);
    case Collective::broadcast:
    case Collective::sendRecv:
      return contribution(spec, spec.root, run, i);
    case Collective::scatter:
      return contribution(spec, spec.root, run, member * n + i);
    case Collective::allToAll:
      return contribution(spec, static_cast<uint32_t>(i / n), run, member * n + i % n);
    case Collective::barrier:
    case Collective::custom:
      break;
  }
  return 0;
}

template <class T>
void storeAs(void* to, uint32_t value) {
  const T typed = static_cast<T>(value);
  std::memcpy(to, &typed, sizeof typed);
}

/// `value` as the bytes of one element. The tests use these types only.
inline void storeElement(DataType type, void* to, uint32_t value) {
  switch (type) {
    case DataType::uint8:
      return storeAs<uint8_t>(to, value);
    case DataType::int32:
      return storeAs<int32_t>(to, value);
    case DataType::float64:
      return storeAs<double>(to, value);
    default:
      return storeAs<float>(to, value);
  }
}

inline bool isElement(DataType type, const void* at, uint32_t value) {
  uint8_t wanted[8];
  storeElement(type, wanted, value);
  return std::memcmp(at, wanted, sizeOf(type)) == 0;
}

}  // namespace dfccl::test
