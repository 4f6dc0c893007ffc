#include "device/team.cuh"

#include "device/block/block_tables.cuh"
#include "device/control_requests.cuh"
#include "device/exchange_any.cuh"
#include "device/exchange_short.cuh"
#include "device/framed_slots.cuh"
#include "device/move_any.cuh"
#include "device/posted.cuh"
#include "device/prepared_copies.cuh"
#include "device/turn_round.cuh"
#include "device/waiting_streams.cuh"

namespace dfccl::gpu {
namespace {

// What is seldom done, or takes long, is out of line: what the short moves need lies together.

/// A worker for each operand of a prepared move. @return whether it begins and ends at 16-byte boundaries.
__device__ bool placeOperand(const TeamOrder& order) {
  const PreparedMove& move = *order.move;
  const uint32_t worker = threadIdx.x;
  if (worker >= move.sourceCount + move.destinationCount) return true;
  const MemberBuffers buffers{*order.view, *order.view->places, order.run};
  const PreparedMove::Operand operand = move.operands[worker];
  uint8_t* const place = buffers.userBuffer(operand.member, operand.isInput) + move.offsetOf(operand);
  MoveOperands& operands = blockShared().operands;
  if (worker < move.sourceCount) {
    operands.sources[worker] = place;
  } else {
    operands.destinations[worker - move.sourceCount] = place;
  }
  return (reinterpret_cast<uint64_t>(place) | move.elements * sizeOf(order.type)) % 16 == 0;
}

/// The workers.
__device__ __noinline__ void carryOutRound(const RoundOrder& order) {
  round::look(order);
  isUnanimous(true);  // everybody has looked
  round::send(order);
  const uint32_t moved = round::move(
      order, [](DataType type, ReduceOp op, const ReduceCopyArgs& args) { reduceCopyAny(type, op, args); },
      [](const Exchange& e) { return exchangePlainOrAny(e); });
  isUnanimous(true);  // everything is moved
  round::count(order, moved);
}

/// @return false if the workers are dismissed.
__device__ __noinline__ bool carryOutOther(TeamOrder& order) {
  switch (order.work) {
    case Work::exchange:
    case Work::preparedExchange:
    case Work::reduceCopy:
    case Work::preparedMove:
      break;
    case Work::preparedCopies:
      carryOutCopies(order);
      break;
    case Work::leave:
      return false;
    case Work::hasArrived:
      if (!hasArrivedInTeam(order)) order.isUnanimous = 0;
      break;
    case Work::unpack:
      unpackInTeam(order);
      break;
    case Work::pack:
      packInTeam(order);
      break;
    case Work::saveTables:
      saveTables();
      break;
    case Work::postProgress:
      postProgress();
      break;
    case Work::lookAtWaits:
      if (isAnyAwaited()) order.isUnanimous = 0;
      break;
    case Work::request:
      carryOutRequest(order.request);
      break;
    case Work::round:
      carryOutRound(order.round);
      break;
    case Work::loadImage:
      for (uint64_t i = threadIdx.x; i < order.bytes / 16; i += kWorkers) order.nearImage[i] = order.image[i];
      break;
  }
  return true;
}

}  // namespace

__device__ void workInTeam() {
  TeamOrder& order = blockShared().order;
  for (;;) {
    meetAt<kBeginBarrier>();
    const Work work = order.work;
    if (work == Work::preparedExchange || work == Work::exchange) {
      const auto& e = *reinterpret_cast<const PreparedExchange*>(dynamicShared + order.exchangeOffset);
      const bool isThere = work == Work::preparedExchange && isShort(e) ? exchangeShort(e) : exchangePlainOrAny(e);
      if (threadIdx.x == 0) order.isUnanimous = isThere;
    } else if (work == Work::preparedMove) {
      const bool isWhole = isUnanimous(placeOperand(order));
      movePlainOrAny(order.type, order.op, order.args, isWhole);
    } else if (work == Work::reduceCopy) {
      movePlainOrAny(order.type, order.op, order.args, plain::isWhole(order.args, sizeOf(order.type)));
    } else if (!carryOutOther(order)) {
      return;
    }
    meetAt<kEndBarrier>();
  }
}

}  // namespace dfccl::gpu
