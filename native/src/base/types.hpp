#pragma once
// Codes shared with packages/primitives (src/data-type.ts, src/reduce-op.ts, src/collective.ts); a test compares them.
#include <cstddef>
#include <cstdint>

namespace dfccl {

enum class DataType : uint8_t {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  float8e4m3,
  float8e5m2
};
inline constexpr int kDataTypeCount = 12;

/// `avg` divides the sum by the number of ranks once, where the result is complete. `scaledSum` multiplies each rank's
/// input by that rank's own scalar before adding (NCCL's PreMulSum). Of bits there are only those of integers.
enum class ReduceOp : uint8_t { sum, prod, min, max, avg, scaledSum, bitAnd, bitOr, bitXor };
inline constexpr int kReduceOpCount = 9;
/// Operators of the caller's own have the codes from here on, see own_operators.hpp.
inline constexpr int kFirstOwnOp = 64, kOwnOps = 64;

enum class Collective : uint8_t {
  allReduce,
  allGather,
  reduceScatter,
  reduce,
  broadcast,
  allToAll,
  gather,
  scatter,
  sendRecv,
  barrier,
  custom
};
inline constexpr int kCollectiveCount = 11;

namespace detail {
/// Two bits of each type, the first lowest: the logarithm of its size. (A table would be laid out on the stack by every
/// caller, since device code can't use one of the host's.)
constexpr uint32_t packSizeLogarithms() {
  constexpr uint8_t kBytes[kDataTypeCount] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  uint32_t packed = 0;
  for (int type = 0; type < kDataTypeCount; ++type) {
    for (uint32_t logarithm = 0; logarithm < 4; ++logarithm) {
      if (kBytes[type] == 1u << logarithm) packed |= logarithm << (2 * type);
    }
  }
  return packed;
}
}  // namespace detail

/// In bytes.
constexpr size_t sizeOf(DataType t) {
  constexpr uint32_t kLogarithms = detail::packSizeLogarithms();
  return size_t{1} << (kLogarithms >> (2 * static_cast<uint32_t>(t)) & 3);
}

constexpr bool isInteger(DataType t) { return t <= DataType::uint64; }
constexpr bool isOfBits(ReduceOp op) { return op >= ReduceOp::bitAnd && op <= ReduceOp::bitXor; }
constexpr bool isOwn(ReduceOp op) {
  return static_cast<int>(op) >= kFirstOwnOp && static_cast<int>(op) < kFirstOwnOp + kOwnOps;
}
constexpr bool isDefined(ReduceOp op, DataType t) { return isInteger(t) || !isOfBits(op); }

}  // namespace dfccl
