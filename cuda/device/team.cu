#include "device/team.cuh"

#include "device/block_tables.cuh"
#include "device/exchange_held.cuh"
#include "device/exchange_lines.cuh"
#include "device/framed_slots.cuh"
#include "device/typed_moves.cuh"
#include "device/with_type.cuh"

namespace dfccl::gpu {
namespace {

__device__ void reduceCopyInTeam(const TeamOrder& order) {
  const ReduceCopyArgs& args = order.args;
  const bool isScaled = order.op == ReduceOp::scaledSum && args.scales != nullptr;
  const bool isDivided = order.op == ReduceOp::avg && args.divisor > 1;
  if (args.sourceCount == 1 && !isScaled && !isDivided) return copyBytes(args, sizeOf(order.type));
  withType(order.type, [&]<class T>() { TypedMoves<T>::reduceCopy(order.op, args); });
}

/// @return whether the parts were there.
__device__ bool exchangeInTeam(const Exchange& e) {
  if (isHeld(e)) return exchangeHeldInTeam(e);
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
        const auto& e = *reinterpret_cast<const Exchange*>(dynamicShared + order.exchangeOffset);
        const bool isThere = exchangeInTeam(e);
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
