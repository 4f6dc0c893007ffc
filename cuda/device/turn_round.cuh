#pragma once
// A round of turns, see daemon/tasks/turn_round.hpp: the workers look at one task in each half of a warp, a lane a
// member; then all of them send, and move what can be moved, one task behind the other, each worker at its own pace;
// and then a lane a task counts. So a look, a fence and a count are waited for once, not once a task.
#include "block/block_shared.cuh"
#include "cuda_platform.cuh"
#include "daemon/tasks/turn_round.hpp"
#include "exchange_lines.cuh"
#include "reduce_copy.cuh"
#include "team_vote.cuh"

namespace dfccl::gpu::round {

using Round = TurnRound<CudaPlatform<>>;

inline constexpr uint32_t kLanes = 16;
static_assert(kRoundTurns == kWorkers / kLanes && kRoundTurns <= 32);
static_assert(PreparedMove::kMostOperands == kLanes && 2 * PreparedCopies::kMost <= kLanes);
// Of all operands: what is behind it waits for the next round, before which the block looks for what has come in.
inline constexpr uint64_t kMostBytes = 2 << 20;

__device__ inline const QueueEntry& entryOf(const RoundOrder& order, uint32_t turn) {
  return blockShared().queue[order.positions.of(turn)];
}

struct Seen {
  bool isThere;
  bool isUnmapped;  // the run goes through connectors
  uint64_t input, output;
};

/// What the member of this lane has published for a run.
__device__ inline Seen lookAtMember(const PreparedMeeting& meeting, const RunAddresses& run, uint32_t member) {
  const Mailbox& box = meeting.mailboxes[member];
  const uint64_t input = box.input.load(order::relaxed), output = box.output.load(order::relaxed);
  const bool isOfRun = Mailbox::isOfRun(input, run.run) && Mailbox::isOfRun(output, run.run);
  const uint64_t in = Mailbox::address(input), out = Mailbox::address(output);
  const bool isUnmapped = meeting.isEverStaged && isOfRun && (windows::isUnmapped(in) || windows::isUnmapped(out));
  if (member == meeting.member) return {isOfRun, isUnmapped, run.sendAddress, run.recvAddress};
  if (!isOfRun || isUnmapped || meeting.places->windows == nullptr) return {isOfRun, isUnmapped, in, out};
  const windows::Table table = meeting.places->windows[member];
  const uint64_t inBase = windows::baseSeen(table, in), outBase = windows::baseSeen(table, out);
  return {inBase != 0 && outBase != 0, false, windows::seenAt(inBase, in), windows::seenAt(outBase, out)};
}

/// What a lane looks up for a turn's move: one of a reduce-copy's operands, or an end of one of its copies.
struct LaneOperand {
  bool isOne;
  bool isInput;
  uint32_t member;
  uint64_t offset;    // in its buffer
  uint64_t elements;  // of its move
};
/// Out of line, so that reduce-copies don't pay for it.
__device__ __noinline__ inline LaneOperand copyEndOf(const PreparedCopies& copies, uint32_t lane) {
  if (lane >= 2 * copies.count) return {};
  const PreparedCopies::Copy& copy = copies.copies[lane / 2];
  if (lane % 2 == 0) return {true, true, copy.from, copy.inputOffset, copy.elements};
  return {true, false, copy.to, copy.outputOffset, copy.elements};
}
__device__ inline LaneOperand operandOf(const PreparedPart& part, uint32_t lane) {
  if (part.kind == PreparedPart::Kind::copies) [[unlikely]]
    return copyEndOf(part.copies, lane);
  if (lane >= part.move.sourceCount + part.move.destinationCount) return {};
  const PreparedMove::Operand operand = part.move.operands[lane];
  return {true, operand.isInput, operand.member, part.move.offsetOf(operand), part.move.elements};
}

/// Whether the last that a member sends of an exchange has come: the rest will have, or is about to.
__device__ inline bool hasSent(const PreparedExchange& e, uint64_t run, uint32_t member) {
  const uint64_t lastLine = linesOf(e.count * sizeOf(e.type)) - 1;
  const uint8_t* const from = e.evenIncoming + (run % 2 != 0 ? e.halfBytes : 0) + member * e.memberStride;
  uint64_t payload;
  return loadLine(from + lastLine * kLineBytes, Ll::flagOf(run), payload);
}

/// Half a warp for each turn.
__device__ inline void look(const RoundOrder& order) {
  constexpr uint32_t kAll = 0xffffffff;
  const uint32_t turn = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  const uint32_t firstLane = threadIdx.x % 32 / kLanes * kLanes;
  RoundPlan& plan = blockShared().round.plans[turn];
  auto awaits = Round::Awaits::nothing;
  PreparedPart* part = nullptr;
  Seen seen{true, false, 0, 0};
  bool isTurn = true, isSent = false;
  if (turn < order.positions.count) {
    const QueueEntry& entry = entryOf(order, turn);
    ContextSlots<CudaPlatform<>>& slots = *static_cast<ContextSlots<CudaPlatform<>>*>(order.slots);
    const ContextSlot& slot = slots.at(entry.collective);
    part = &slots.preparedAt(entry.collective);
    awaits = Round::awaits(entry.task, slot, *part);
    if (part->meeting.members > kLanes) awaits = Round::Awaits::nothing;
    if (awaits == Round::Awaits::acknowledgements) {
      if (lane == 0) seen.isThere = Round::isAccessOver(slot, part->meeting);
    } else if (awaits == Round::Awaits::buffers && lane < part->meeting.members) {
      seen = lookAtMember(part->meeting, slot.addresses, lane);
    } else if (awaits == Round::Awaits::parts) {
      PreparedExchange& exchange = part->exchange;
      isSent = slot.dynamic.isSent != 0;
      if (lane == 0) {
        isTurn = Round::isTurn(slot);
        exchange.aimAt(slot.addresses);
        exchange.isSent = 1;  // when it is received
      }
      if (lane < exchange.members && lane != exchange.member) {
        seen.isThere = hasSent(exchange, slot.addresses.run, lane);
      }
    }
  }
  const auto areAll = [&](bool mine) {
    return ((__ballot_sync(kAll, mine) >> firstLane) & ((1u << kLanes) - 1)) == (1u << kLanes) - 1;
  };
  const bool canGoOn = areAll(seen.isThere) && awaits != Round::Awaits::nothing;
  const bool exchanges = areAll(isTurn) && awaits == Round::Awaits::parts;
  const bool areMapped = areAll(!seen.isUnmapped);
  const bool moves = canGoOn && areMapped && awaits == Round::Awaits::buffers;
  // Each operand from the lane that has seen its member.
  const LaneOperand operand = moves ? operandOf(*part, lane) : LaneOperand{};
  const uint64_t input = __shfl_sync(kAll, seen.input, firstLane + operand.member);
  const uint64_t output = __shfl_sync(kAll, seen.output, firstLane + operand.member);
  bool isWhole = true;
  if (operand.isOne) {
    const uint64_t place = (operand.isInput ? input : output) + operand.offset;
    plan.operands[lane] = reinterpret_cast<void*>(place);
    isWhole = (place | operand.elements * sizeOf(part->meeting.type)) % 16 == 0;
  }
  isWhole = areAll(isWhole);
  if (lane == 0) {
    plan.part = part;
    plan.isWhole = isWhole;
    plan.moves = moves;
    plan.stages = canGoOn && !areMapped;
    plan.ends = canGoOn && awaits == Round::Awaits::acknowledgements;
    plan.sends = exchanges && !isSent;
    plan.receives = exchanges && canGoOn;
  }
}

/// What the peers wait for comes first.
__device__ __noinline__ inline void send(const RoundOrder& order) {
#pragma unroll 1
  for (uint32_t turn = 0; turn < order.positions.count; ++turn) {
    const RoundPlan& plan = blockShared().round.plans[turn];
    if (!plan.sends) continue;
    const PreparedExchange& exchange = plan.part->exchange;
    sendPartsInTeam(exchange, exchange.count * sizeOf(exchange.type));
  }
}

template <class MoveAny>
__device__ inline void moveOperands(const RoundPlan& plan, const ReduceCopyArgs& args, const MoveAny& moveAny) {
  const PreparedMeeting& meeting = plan.part->meeting;
  if (!plan.isWhole || !movePlainly(meeting.type, meeting.op, args)) moveAny(meeting.type, meeting.op, args);
}

/// One copy behind the other: they are few and small, or alone.
template <class MoveAny>
__device__ __noinline__ void copyOperands(const RoundPlan& plan, const MoveAny& moveAny) {
  const PreparedCopies& copies = plan.part->copies;
#pragma unroll 1
  for (uint32_t i = 0; i < copies.count; ++i) {
    void* const* const ends = plan.operands + 2 * i;
    moveOperands(plan, {ends, 1, ends + 1, 1, copies.copies[i].elements}, moveAny);
  }
}

/// @return which turns have moved, a bit each: the same for all workers. @param moveAny, exchangeAny out of line.
template <class MoveAny, class ExchangeAny>
__device__ inline uint32_t move(const RoundOrder& order, const MoveAny& moveAny, const ExchangeAny& exchangeAny) {
  uint64_t bytes = 0;
  uint32_t moved = 0;
#pragma unroll 1
  for (uint32_t turn = 0; turn < order.positions.count && bytes < kMostBytes; ++turn) {
    const RoundPlan& plan = blockShared().round.plans[turn];
    if (plan.receives) {
      bytes += plan.part->movedElements() * sizeOf(plan.part->meeting.type);
      if (exchangeAny(plan.part->exchange)) moved |= 1u << turn;
      continue;
    }
    if (!plan.moves) continue;
    bytes += plan.part->movedElements() * sizeOf(plan.part->meeting.type);
    if (plan.part->kind == PreparedPart::Kind::copies) [[unlikely]] {
      copyOperands(plan, moveAny);
    } else {
      const PreparedMove& move = plan.part->move;
      ReduceCopyArgs args{plan.operands, static_cast<int>(move.sourceCount), plan.operands + move.sourceCount,
                          static_cast<int>(move.destinationCount), move.elements};
      args.divisor = move.divisor;
      moveOperands(plan, args, moveAny);
    }
    moved |= 1u << turn;
  }
  return moved;
}

/// A lane for each turn.
__device__ inline void count(const RoundOrder& order, uint32_t moved) {
  const uint32_t turn = threadIdx.x;
  if (turn >= order.positions.count) return;
  const RoundPlan& plan = blockShared().round.plans[turn];
  ContextSlots<CudaPlatform<>>& slots = *static_cast<ContextSlots<CudaPlatform<>>*>(order.slots);
  RoundTurn came;
  if ((moved >> turn & 1) != 0) {
    came = Round::count(slots.at(entryOf(order, turn).collective), *plan.part);
  } else if (plan.sends) {
    came.kind = RoundTurn::Kind::sent;
  } else if (plan.stages) {
    came.kind = RoundTurn::Kind::staged;
  } else if (plan.ends) {
    came = Round::end(plan.part->meeting);
  }
  if (plan.part != nullptr && plan.part->isExchange()) plan.part->exchange.isSent = 0;
  if (turn == 0) blockShared().round.isOver.store(1, order::relaxed);
  blockShared().round.turns[turn] = came;
}

}  // namespace dfccl::gpu::round
