#include "device/team.cuh"

#include "device/framed_slots.cuh"
#include "device/reduce_copy.cuh"

namespace dfccl::gpu {
namespace {

__device__ void reduceCopyInTeam(const TeamOrder& order) {
  const ReduceCopyArgs& args = order.args;
  const bool isScaled = order.op == ReduceOp::scaledSum && args.scales != nullptr;
  const bool isDivided = order.op == ReduceOp::avg && args.divisor > 1;
  if (args.sourceCount == 1 && !isScaled && !isDivided) return copyBytes(args, sizeOf(order.type));
  switch (order.type) {
    case DataType::int8:
      return reduceCopyInt8(order.op, args);
    case DataType::uint8:
      return reduceCopyUint8(order.op, args);
    case DataType::int32:
      return reduceCopyInt32(order.op, args);
    case DataType::uint32:
      return reduceCopyUint32(order.op, args);
    case DataType::int64:
      return reduceCopyInt64(order.op, args);
    case DataType::uint64:
      return reduceCopyUint64(order.op, args);
    case DataType::float16:
      return reduceCopyFloat16(order.op, args);
    case DataType::float32:
      return reduceCopyFloat32(order.op, args);
    case DataType::float64:
      return reduceCopyFloat64(order.op, args);
    case DataType::bfloat16:
      return reduceCopyBfloat16(order.op, args);
    case DataType::float8e4m3:
      return reduceCopyFloat8e4m3(order.op, args);
    case DataType::float8e5m2:
      return reduceCopyFloat8e5m2(order.op, args);
  }
}

}  // namespace

__device__ void workInTeam() {
  TeamOrder& order = blockShared().order;
  for (;;) {
    waitAt<TeamBarrier::begin>();
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
      case Work::loadImage:
        for (uint64_t i = threadIdx.x; i < order.bytes / 16; i += kWorkers) order.nearImage[i] = order.image[i];
        break;
    }
    arriveAt<TeamBarrier::end>();
  }
}

}  // namespace dfccl::gpu
