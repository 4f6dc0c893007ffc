#pragma once
#include "base/types.hpp"
#include "numeric/small_float.hpp"

namespace dfccl::gpu {

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

}  // namespace dfccl::gpu
