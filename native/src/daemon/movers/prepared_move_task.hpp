#pragma once
// A task whose part is a prepared move, or prepared copies. What the interpreter would do, without the program: where
// many collectives take turns, each slice of theirs would bring the interpreter's instructions and the program's tables
// near anew.
#include <cstdint>

#include "daemon/lifecycle/meeting.hpp"
#include "daemon/lifecycle/outcome.hpp"
#include "daemon/lifecycle/part_end.hpp"
#include "daemon/lifecycle/run_turn.hpp"
#include "daemon/state/context_slots.hpp"
#include "daemon/state/prepared_part.hpp"

namespace dfccl {

template <class P>
class PreparedMoveTask {
 public:
  using Rules = typename P::Rules;

  DFCCL_HD PreparedMoveTask(P& platform, const PreparedPart& part, ContextSlot& slot)
      : platform_(platform), part_(part), slot_(slot), d_(slot.dynamic) {}

  /// Whether it goes on here: a run that began before its part was prepared may be in the middle of its steps, and one
  /// may go through connectors.
  DFCCL_HD bool isMine() const { return d_.phase != Phase::running && d_.phase != Phase::staging; }

  /// As Interpreter::advance.
  DFCCL_HD Outcome advance(int64_t& budgetBytes, bool& progressed) {
    if (d_.phase == Phase::starting && !isMyTurn()) return Outcome::stuck;
    const CollectiveRecord& view = ContextSlots<P>::viewOf(slot_);
    const MeetingPlaces& places = *view.places;
    const RunAddresses& run = slot_.addresses;
    if (d_.phase != Phase::draining) {
      meet(progressed);
      if (Rules::mailboxNamesRun) {
        d_.step = platform_.lookForMailboxes(places, run.run, d_.step);
        if (d_.step != places.members) return Outcome::stuck;
        if (Meeting<P>::isToStage(view, places)) [[unlikely]]
          return stage(progressed);
      }
      move(view, budgetBytes);
      progressed = true;
      const Outcome ended = endPart(slot_.run->blocksDone, slot_.blockCount, run.partsAtEnd);
      if (ended != Outcome::completed || !Rules::completeAfterAcknowledge) return ended;
      P::finishAccess(places);
      d_.phase = Phase::draining;
    }
    return Meeting<P>::isAccessOver(platform_, view, places, run.run) ? Outcome::completed : Outcome::stuck;
  }

  /// As Interpreter::publishBuffers.
  DFCCL_HD void publishBuffers(bool& progressed) {
    if (d_.published || slot_.programBlock != 0) return;
    if (d_.phase == Phase::starting && !isMyTurn()) return;
    meet(progressed);
  }

 private:
  DFCCL_HD bool isMyTurn() const { return isTurnOf<P>(*slot_.collective, slot_.blockCount, slot_.addresses.run); }

  /// @pre It is this run's turn.
  DFCCL_HD void meet(bool& progressed) {
    progressed |= d_.phase == Phase::starting;
    d_.phase = Phase::meeting;
    if (d_.published || slot_.programBlock != 0) return;
    part_.notice().publish(slot_.addresses, P::kPublishOrder);
    d_.published = 1;
    progressed = true;
  }

  /// The interpreter goes on with it.
  DFCCL_HD DFCCL_COLD Outcome stage(bool& progressed) {
    d_.beginSlices(Phase::staging);
    progressed = true;
    return Outcome::paused;
  }

  DFCCL_HD void move(const CollectiveRecord& view, int64_t& budgetBytes) {
    if (part_.kind == PreparedPart::Kind::copies) {
      platform_.copyPrepared(view, slot_.addresses, part_.copies);
    } else {
      platform_.movePrepared(view, slot_.addresses, part_.move);
    }
    budgetBytes -= static_cast<int64_t>(part_.movedElements() * sizeOf(view.type));
  }

  P& platform_;
  const PreparedPart& part_;
  ContextSlot& slot_;
  DynamicContext& d_;
};

}  // namespace dfccl
