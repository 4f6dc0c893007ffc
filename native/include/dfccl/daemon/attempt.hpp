#pragma once
// A run that finds nothing before it, and of which this block's part is prepared, is tried before a task is made of it.
// On a GPU a small collective is over by the time that its task would have had its first turn.
#include <cstdint>

#include "dfccl/daemon/block_feed.hpp"
#include "dfccl/daemon/context_slots.hpp"
#include "dfccl/reduce_copy.hpp"

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

  /// @param slot where the part of block `index` is prepared. @return whether it is under way: end() is to follow.
  DFCCL_HD DFCCL_HOT static void begin(P& platform, ContextSlot& slot, const FeedEntry& run, uint32_t index,
                                       Attempt& attempt) {
    // With a single block there is nobody to wait for.
    const uint64_t finished = run.blockCount != 1 ? slot.collective->finishedRuns.load(P::kLook) : run.addresses.run;
    PreparedPart& part = slot.prepared;
    if (part.isExchange) part.exchange.aimAt(run.addresses);
    if (Rules::runsInOrder && finished != run.addresses.run) return;
    P::mark(TracePoint::runTaken, run.collective);
    attempt.isUnderWay = true;
    attempt.phase = Phase::meeting;
    if (part.isExchange) {
      attempt.isSent = true;
      platform.beginExchange(part.exchange);
    } else if (index == 0) {
      attempt.isPublished = true;
      const MeetingPlaces& places = *slot.view->places;
      for (uint32_t copy = 0; copy < places.copyCount; ++copy) {
        places.mailboxCopies[copy][slot.view->member].publish(run.addresses.sendAddress, run.addresses.recvAddress,
                                                              run.addresses.run, P::kPublishOrder);
      }
    }
  }

  DFCCL_HD DFCCL_HOT static void end(P& platform, ContextSlot& slot, const FeedEntry& run, RunRecord& record,
                                     BlockCounters& counters, Attempt& attempt) {
    const bool isExchange = slot.prepared.isExchange;
    if (isExchange ? !platform.endExchange() : !moves(platform, slot, run, attempt)) return;
    const RunProgress progress = record.blocksDone.count(1, run.blockCount);
    P::mark(TracePoint::partDone, run.collective);
    if (progress == RunProgress::finished && !isExchange && Rules::completeAfterAcknowledge) {
      if (!acknowledges(platform, slot, run)) {
        attempt.phase = Phase::draining;
        return;
      }
    }
    attempt.isOver = true;
    attempt.isFinal = progress != RunProgress::blocksLeft;
    attempt.isAborted = progress == RunProgress::aborted;
    counters.tasksTaken.add(1);
    counters.visits.add(1);
    counters.slices.add(1);
    counters.tasksCompleted.add(1);
  }

 private:
  DFCCL_HD DFCCL_HOT static bool moves(P& platform, ContextSlot& slot, const FeedEntry& run, Attempt& attempt) {
    const CollectiveRecord& view = *slot.view;
    const MeetingPlaces& places = *view.places;
    if (Rules::mailboxNamesRun) {
      attempt.knownMembers = platform.lookForMailboxes(places, run.addresses.run, 0);
      if (attempt.knownMembers != places.members) return false;
      attempt.knownMembers = 0;
      P::mark(TracePoint::peersKnown, run.collective);
    }
    const PreparedMove& move = slot.prepared.move;
    auto& operands = platform.operands();
    for (uint32_t i = 0; i < move.sourceCount; ++i) {
      operands.sources[i] = place(move.operands[i], view.member, places, run.addresses);
    }
    for (uint32_t i = 0; i < move.destinationCount; ++i) {
      operands.destinations[i] = place(move.operands[move.sourceCount + i], view.member, places, run.addresses);
    }
    ReduceCopyArgs args{operands.sources, static_cast<int>(move.sourceCount), operands.destinations,
                        static_cast<int>(move.destinationCount), move.elements};
    args.divisor = move.divisor;
    platform.reduceCopy(view.type, view.op, args, view.workingSetBytes);
    return true;
  }

  DFCCL_HD static uint8_t* place(const PreparedMove::Operand& operand, uint32_t self, const MeetingPlaces& places,
                                 const RunAddresses& addresses) {
    const bool isInput = operand.buffer == BufferKind::input;
    if (operand.member == self) {
      return reinterpret_cast<uint8_t*>(isInput ? addresses.sendAddress : addresses.recvAddress) + operand.byteOffset;
    }
    const Mailbox& box = places.knownMailboxes[operand.member];
    const uint64_t word = (isInput ? box.input : box.output).load(order::relaxed);
    return reinterpret_cast<uint8_t*>(Mailbox::address(word)) + operand.byteOffset;
  }

  /// This member is done with the others' buffers. @return whether they are done with its own.
  DFCCL_HD DFCCL_HOT static bool acknowledges(P& platform, ContextSlot& slot, const FeedEntry& run) {
    const MeetingPlaces& places = *slot.view->places;
    P::finishAccess(places);
    const uint64_t everybody = (run.addresses.run + 1) * places.members;
    const Atomic<uint64_t>& finished = slot.view->shared->finishedAccess;
    if (!platform.poll([&] { return finished.load(P::kLook) >= everybody; })) return false;
    P::found(finished);
    return true;
  }
};

}  // namespace dfccl
