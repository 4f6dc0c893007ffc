#pragma once
#include <type_traits>

#include "device/reduce_copy.cuh"
#include "device/reduce_parts.cuh"
#include "device/typed_moves.cuh"

namespace dfccl::gpu {

/// Calls `move` with the operator as a constant: those that fold alike share one.
template <class T, class Move>
__device__ auto withFold(ReduceOp op, const Move& move) {
  switch (op) {
    case ReduceOp::prod:
      return move.template operator()<ReduceOp::prod>();
    case ReduceOp::min:
      return move.template operator()<ReduceOp::min>();
    case ReduceOp::max:
      return move.template operator()<ReduceOp::max>();
    case ReduceOp::sum:
    case ReduceOp::avg:
    case ReduceOp::scaledSum:
      break;
    case ReduceOp::bitAnd:
    case ReduceOp::bitOr:
    case ReduceOp::bitXor:
      if constexpr (std::is_integral_v<T>) {
        if (op == ReduceOp::bitAnd) return move.template operator()<ReduceOp::bitAnd>();
        if (op == ReduceOp::bitOr) return move.template operator()<ReduceOp::bitOr>();
        return move.template operator()<ReduceOp::bitXor>();
      }
      break;
  }
  return move.template operator()<ReduceOp::sum>();
}

template <class T>
__device__ void TypedMoves<T>::reduceCopy(ReduceOp op, const ReduceCopyArgs& args) {
  const TeamReduction<T> reduction(op, args);
  withFold<T>(op, [&]<ReduceOp fold>() { reduction.template run<fold>(); });
}

template <class T>
__device__ bool TypedMoves<T>::reduceParts(ReduceOp op, const Exchange& exchange) {
  const TeamPartsReduction<T> reduction(op, exchange);
  return withFold<T>(op, [&]<ReduceOp fold>() { return reduction.template run<fold>(); });
}

template <class T>
__device__ uint64_t TypedMoves<T>::foldLine(const Exchange& exchange, const uint64_t* parts) {
  const TeamPartsReduction<T> reduction(exchange.op, exchange);
  return withFold<T>(exchange.op, [&]<ReduceOp fold>() { return reduction.template foldLine<fold>(parts); });
}

}  // namespace dfccl::gpu
