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

constexpr size_t sizeOf(DataType t) {
  constexpr uint8_t kBytes[kDataTypeCount] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return kBytes[static_cast<int>(t)];
}

constexpr bool isInteger(DataType t) { return t <= DataType::uint64; }
constexpr bool isOfBits(ReduceOp op) { return op >= ReduceOp::bitAnd; }
constexpr bool isDefined(ReduceOp op, DataType t) { return isInteger(t) || !isOfBits(op); }

}  // namespace dfccl
