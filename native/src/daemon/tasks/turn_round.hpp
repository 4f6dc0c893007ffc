#pragma once
// A round: turns for several tasks of a block's queue at once, each of which is prepared: a move, copies or an
// exchange. One look says which of them can go on; those do, one behind the other; and then all of them are counted. In
// a burst a task of its own would wait for each of these, and for what its collective has in memory.
#include <cstdint>

#include "daemon/lifecycle/meeting.hpp"
#include "daemon/lifecycle/outcome.hpp"
#include "daemon/lifecycle/part_end.hpp"
#include "daemon/lifecycle/run_turn.hpp"
#include "daemon/movers/prepared_exchange_task.hpp"
#include "daemon/state/context_slots.hpp"
#include "daemon/tasks/task_queue.hpp"

namespace dfccl {

/// What a round came to for one task.
struct RoundTurn {
  enum class Kind : uint8_t {
    passed,  // nothing: it can't go on, or it is no task for a round
    sent,    // an exchange's part is on its way; those of the others are not all there
    moved,   // done and counted; the outcome says how that ended, of a move stuck: the peers are to acknowledge
    ended,   // all peers have acknowledged
    staged,  // the run is found to go through connectors, which is no task for a round
  };
  Kind kind = Kind::passed;
  Outcome outcome = Outcome::stuck;
};

/// Which places in the queue a round looks at: some behind one another; behind the last one it goes on with the first.
/// Each once.
struct RoundPositions {
  uint32_t first;
  uint32_t length;  // of the queue
  uint32_t count;   // turns

  /// The current task's and those behind it, or of a queue that is longer than a round, those behind `behind` others.
  /// @pre behind < length
  DFCCL_HD static constexpr RoundPositions from(uint32_t cursor, uint32_t behind, uint32_t length, uint32_t most) {
    const uint32_t first = cursor + behind < length ? cursor + behind : cursor + behind - length;
    const uint32_t left = length - behind;
    return {first, length, left < most ? left : most};
  }
  DFCCL_HD constexpr uint32_t of(uint32_t turn) const {
    return first + turn < length ? first + turn : first + turn - length;
  }
  /// Turns by their positions, the last one first.
  DFCCL_HD constexpr uint32_t turnFromBehind(uint32_t number) const {
    const uint32_t toTheEnd = length - first < count ? length - first : count;
    return number < toTheEnd ? toTheEnd - 1 - number : count - 1 - (number - toTheEnd);
  }
};

template <class P>
struct TurnRound {
  using Rules = typename P::Rules;

  /// What a task waits for, that a round could find.
  enum class Awaits : uint8_t { nothing, buffers, acknowledgements, parts };

  /// @param slot, part of the task's collective, whosever they are now.
  DFCCL_HD static Awaits awaits(uint32_t task, const ContextSlot& slot, const PreparedPart& part) {
    // Controls change what these would be.
    if (!Rules::mailboxNamesRun || !Rules::completeAfterAcknowledge || !Rules::runsInOrder) return Awaits::nothing;
    if (slot.task != task || !part.isOf(task)) return Awaits::nothing;
    if (part.isExchange()) return Awaits::parts;
    if (slot.dynamic.phase == Phase::draining) return Awaits::acknowledgements;
    if (slot.dynamic.phase == Phase::running || slot.dynamic.phase == Phase::staging) return Awaits::nothing;
    // A member's own mailbox is one of those that are looked at, so when they carry the run, it is this run's turn. But
    // the block that fills it has to do so first.
    if (slot.programBlock == 0 && slot.dynamic.published == 0) return Awaits::nothing;
    return Awaits::buffers;
  }

  DFCCL_HD static bool isAccessOver(const ContextSlot& slot, const PreparedMeeting& meeting) {
    return meeting.finishedAccess->load(P::kLook) >= (slot.addresses.run + 1) * meeting.members;
  }

  /// Of an exchange: whether this member's part may be sent, and the others' may have come.
  DFCCL_HD static bool isTurn(const ContextSlot& slot) {
    return slot.dynamic.phase != Phase::starting || isTurnOf<P>(*slot.collective, slot.blockCount, slot.addresses.run);
  }

  /// After the move or the exchange.
  DFCCL_HD static RoundTurn count(ContextSlot& slot, const PreparedPart& part) {
    const Outcome ended = endPart(slot.run->blocksDone, slot.blockCount, slot.addresses.partsAtEnd);
    if (ended != Outcome::completed || part.isExchange()) return {RoundTurn::Kind::moved, ended};
    P::finishAccess(*part.meeting.places);
    return {RoundTurn::Kind::moved, Outcome::stuck};
  }

  /// After isAccessOver().
  DFCCL_HD static RoundTurn end(const PreparedMeeting& meeting) {
    P::found(*meeting.finishedAccess);
    return {RoundTurn::Kind::ended, Outcome::completed};
  }
};

/// A round without workers: one task after the other, by turns before and after what is done beside it.
template <class P>
class RoundInSequence {
 public:
  using Round = TurnRound<P>;

  void begin(P& platform, ContextSlots<P>& slots, const TaskQueue<P>& tasks, const RoundPositions& positions) {
    slots_ = &slots;
    tasks_ = &tasks;
    positions_ = positions;
    isEarly_ = !isEarly_;
    if (isEarly_) take(platform, slots, tasks, positions, turns_);
  }
  const RoundTurn* end(P& platform) {
    if (!isEarly_) take(platform, *slots_, *tasks_, positions_, turns_);
    return turns_;
  }

 private:
  static void take(P& platform, ContextSlots<P>& slots, const TaskQueue<P>& tasks, const RoundPositions& positions,
                   RoundTurn* turns) {
    bool moves[P::kRoundTurns] = {};
    // As where it is done at once, nothing is counted before everything has moved.
    for (uint32_t i = 0; i < positions.count; ++i) {
      const QueueEntry& entry = tasks.at(positions.of(i));
      ContextSlot& slot = slots.at(entry.collective);
      PreparedPart& part = slots.preparedAt(entry.collective);
      const auto awaits = Round::awaits(entry.task, slot, part);
      turns[i] = RoundTurn{};
      if (awaits == Round::Awaits::acknowledgements && Round::isAccessOver(slot, part.meeting)) {
        turns[i] = Round::end(part.meeting);
      } else if (awaits == Round::Awaits::buffers) {
        moves[i] = move(platform, slot, part, turns[i]);
      } else if (awaits == Round::Awaits::parts && Round::isTurn(slot)) {
        moves[i] = exchange(platform, slot, part.exchange, turns[i]);
      }
    }
    for (uint32_t i = 0; i < positions.count; ++i) {
      const uint32_t collective = tasks.at(positions.of(i)).collective;
      if (moves[i]) turns[i] = Round::count(slots.at(collective), slots.preparedAt(collective));
    }
  }

  static bool move(P& platform, ContextSlot& slot, const PreparedPart& part, RoundTurn& turn) {
    const CollectiveRecord& view = ContextSlots<P>::viewOf(slot);
    const MeetingPlaces& places = *view.places;
    if (platform.lookForMailboxes(places, slot.addresses.run, 0) != places.members) return false;
    if (Meeting<P>::isToStage(view, places)) {
      turn.kind = RoundTurn::Kind::staged;
      return false;
    }
    if (part.kind == PreparedPart::Kind::copies) {
      platform.copyPrepared(view, slot.addresses, part.copies);
    } else {
      platform.movePrepared(view, slot.addresses, part.move);
    }
    return true;
  }

  /// @return whether all parts were there.
  static bool exchange(P& platform, ContextSlot& slot, PreparedExchange& exchange, RoundTurn& turn) {
    const bool sends = slot.dynamic.isSent == 0;
    if (PreparedExchangeTask<P>::carryOut(platform, exchange, slot.addresses, !sends, false)) return true;
    if (sends) turn.kind = RoundTurn::Kind::sent;
    return false;
  }

  ContextSlots<P>* slots_ = nullptr;
  const TaskQueue<P>* tasks_ = nullptr;
  RoundPositions positions_{};
  RoundTurn turns_[P::kRoundTurns];
  bool isEarly_ = false;
};

}  // namespace dfccl
