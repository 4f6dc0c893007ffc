#pragma once
// A run that finds nothing before it but a few tasks that wait, and of which this block's part is prepared, is tried
// before a task is made of it. On a GPU a small collective is over by the time that its task would have had its first
// turn.
#include <cstdint>

#include "base/reduce_copy.hpp"
#include "daemon/lifecycle/meeting.hpp"
#include "daemon/lifecycle/outcome.hpp"
#include "daemon/lifecycle/part_end.hpp"
#include "daemon/state/block_feed.hpp"
#include "daemon/state/context_slots.hpp"
#include "daemon/state/member_buffers.hpp"
#include "daemon/state/prepared_part.hpp"

namespace dfccl {

/// What an attempt led to, and if it wasn't the end, where the task goes on that is made of it.
struct Attempt {
  bool isUnderWay = false;
  bool isOver = false;     // this block's part
  bool isFinal = false;    // ... and all of the run, on this rank
  bool isAborted = false;  // ... but another block gave its part up
  Phase phase = Phase::starting;
  bool isPublished = false;
  bool isSent = false;
  uint32_t knownMembers = 0;

  DFCCL_HD void applyTo(DynamicContext& context) const {
    if (!isUnderWay) return;
    context.phase = phase;
    context.published |= isPublished;
    context.isSent |= isSent;
    context.step = knownMembers;
  }
};

template <class P>
class Attempts {
 public:
  using Rules = typename P::Rules;

  /// @param part of block `index`, whose context is in `slot`. Once it is under way, end() is to follow.
  DFCCL_HD DFCCL_HOT static void begin(P& platform, ContextSlot& slot, PreparedPart& part, const FeedEntry& run,
                                       uint32_t index, Attempt& attempt) {
    if (part.isExchange()) part.exchange.aimAt(run.addresses);
    // With a single block there is nobody to wait for.
    const bool isTurn = run.blockCount == 1 || run.isTurn != 0 || !Rules::runsInOrder;
    if (!isTurn && slot.collective->finishedRuns.load(P::kLook) != run.addresses.run) return;
    P::mark(TracePoint::runTaken, run.collective);
    attempt.isUnderWay = true;
    attempt.phase = Phase::meeting;
    if (part.isExchange()) {
      attempt.isSent = true;
      platform.beginExchange(part.exchange);
      return;
    }
    const CollectiveRecord& view = ContextSlots<P>::viewOf(slot);  // what end() finds in the slot
    if (index == 0) {
      attempt.isPublished = true;
      Meeting<P>::publishBuffers(*view.places, view.member, run.addresses);
    }
  }

  DFCCL_HD DFCCL_HOT static void end(P& platform, ContextSlot& slot, const PreparedPart& part, const FeedEntry& run,
                                     RunRecord& record, BlockCounters& counters, Attempt& attempt) {
    const bool isExchange = part.isExchange();
    if (isExchange ? !platform.endExchange() : !moves(platform, *slot.view, part, run, attempt)) return;
    const Outcome ended = endPart(record.blocksDone, run.blockCount, run.addresses.partsAtEnd);
    P::mark(TracePoint::partDone, run.collective);
    if (ended == Outcome::completed && !isExchange && Rules::completeAfterAcknowledge) {
      // This member is done with the others' buffers; are they with its own?
      const CollectiveRecord& view = *slot.view;
      P::finishAccess(*view.places);
      if (!Meeting<P>::isAccessOver(platform, view, *view.places, run.addresses.run)) {
        attempt.phase = Phase::draining;
        return;
      }
    }
    attempt.isOver = true;
    attempt.isFinal = ended != Outcome::blockDone;
    attempt.isAborted = ended == Outcome::aborted;
    counters.tasksTaken.add(1);
    counters.visits.add(1);
    counters.slices.add(1);
    counters.tasksCompleted.add(1);
  }

 private:
  DFCCL_HD DFCCL_HOT static bool moves(P& platform, const CollectiveRecord& view, const PreparedPart& part,
                                       const FeedEntry& run, Attempt& attempt) {
    const MeetingPlaces& places = *view.places;
    if (Rules::mailboxNamesRun) {
      attempt.knownMembers = platform.lookForMailboxes(places, run.addresses.run, 0);
      if (attempt.knownMembers != places.members) return false;
      attempt.knownMembers = 0;
      if (Meeting<P>::isToStage(view, places)) [[unlikely]] {
        attempt.phase = Phase::staging;
        return false;
      }
      P::mark(TracePoint::peersKnown, run.collective);
    }
    if (part.kind == PreparedPart::Kind::copies) {
      platform.copyPrepared(view, run.addresses, part.copies);
    } else {
      platform.movePrepared(view, run.addresses, part.move);
    }
    return true;
  }
};

}  // namespace dfccl
