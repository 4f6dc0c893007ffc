#include "device/team.cuh"

#include "device/block_tables.cuh"
#include "device/exchange_lines.cuh"
#include "device/framed_slots.cuh"
#include "device/typed_moves.cuh"
#include "dfccl/numeric/small_float.hpp"

namespace dfccl::gpu {
namespace {

/// Calls `move` with the type.
template <class Move>
__device__ auto withType(DataType type, const Move& move) {
  switch (type) {
    case DataType::int8:
      return move.template operator()<int8_t>();
    case DataType::uint8:
      return move.template operator()<uint8_t>();
    case DataType::int32:
      return move.template operator()<int32_t>();
    case DataType::uint32:
      return move.template operator()<uint32_t>();
    case DataType::int64:
      return move.template operator()<int64_t>();
    case DataType::uint64:
      return move.template operator()<uint64_t>();
    case DataType::float16:
      return move.template operator()<Float16>();
    case DataType::float32:
      return move.template operator()<float>();
    case DataType::float64:
      return move.template operator()<double>();
    case DataType::bfloat16:
      return move.template operator()<BFloat16>();
    case DataType::float8e4m3:
      return move.template operator()<Float8E4M3>();
    case DataType::float8e5m2:
      return move.template operator()<Float8E5M2>();
  }
  return move.template operator()<int8_t>();
}

__device__ void reduceCopyInTeam(const TeamOrder& order) {
  const ReduceCopyArgs& args = order.args;
  const bool isScaled = order.op == ReduceOp::scaledSum && args.scales != nullptr;
  const bool isDivided = order.op == ReduceOp::avg && args.divisor > 1;
  if (args.sourceCount == 1 && !isScaled && !isDivided) return copyBytes(args, sizeOf(order.type));
  withType(order.type, [&]<class T>() { TypedMoves<T>::reduceCopy(order.op, args); });
}

/// @return whether the parts were there.
__device__ bool exchangeInTeam(const Exchange& e) {
  if (!e.isSent) sendPartsInTeam(e, e.count * sizeOf(e.type));
  if (e.isSendOnly) return false;
  return withType(e.type, [&]<class T>() { return TypedMoves<T>::reduceParts(e.op, e); });
}

}  // namespace

__device__ void workInTeam() {
  TeamOrder& order = blockShared().order;
  for (;;) {
    meetAt<kBeginBarrier>();
    switch (order.work) {
      case Work::leave:
        return;
      case Work::reduceCopy:
        reduceCopyInTeam(order);
        break;
      case Work::hasArrived:
        if (!hasArrivedInTeam(order)) order.isUnanimous = 0;
        break;
      case Work::unpack:
        unpackInTeam(order);
        break;
      case Work::pack:
        packInTeam(order);
        break;
      case Work::exchange: {
        const bool isThere = exchangeInTeam(order.exchange);
        if (threadIdx.x == 0) order.isUnanimous = isThere;
        break;
      }
      case Work::saveTables:
        saveTables();
        break;
      case Work::loadImage:
        for (uint64_t i = threadIdx.x; i < order.bytes / 16; i += kWorkers) order.nearImage[i] = order.image[i];
        break;
    }
    meetAt<kEndBarrier>();
  }
}

}  // namespace dfccl::gpu
