#pragma once
// A run whose members don't all reach each other's buffers, moved tile by tile through rings (state/staging_ring.hpp):
// copied in by its owner, reduced or fetched by the others, while the next tiles are copied in.
//
// A member begins tile t of a stage when all members have done t of the stage before, so that it reads what is there;
// and when all have done tile t - slots of the stage behind, so that nobody still reads what it writes over.
#include <cstdint>

#include "daemon/lifecycle/outcome.hpp"
#include "daemon/movers/task_slice.hpp"
#include "daemon/state/records.hpp"

namespace dfccl {

template <class P>
class RingMoves {
 public:
  using Rules = typename P::Rules;

  /// @param ring this member's own, if it needs one.
  DFCCL_HD RingMoves(const TaskSlice<P>& slice, uint64_t ring)
      : platform_(slice.platform),
        c_(slice.collective),
        places_(slice.places),
        run_(slice.run),
        plan_(*slice.collective.rings),
        program_(*plan_.program),
        ring_(reinterpret_cast<uint8_t*>(ring)),
        before_(slice.run.run * program_.tiles) {}

  /// As Meeting::publishBuffers: a buffer that others don't reach by the member's ring.
  DFCCL_HD static void publishBuffers(const MeetingPlaces& places, uint32_t member, const RunAddresses& run,
                                      uint64_t ring) {
    const uint64_t input = run.sendWindow != 0 ? ring_names::named(ring) : run.sendAddress;
    const uint64_t output = run.recvWindow != 0 ? ring_names::named(ring) : run.recvAddress;
    places.mailboxes[member].publish(input, output, run.run, P::kPublishOrder);
  }

  /// Whether some member's buffer is one that others don't reach. All read the same names, so they come to the same
  /// answer. @pre The names of all members are there.
  DFCCL_HD static bool areNeeded(const MeetingPlaces& places) {
    for (uint32_t m = 0; m < places.members; ++m) {
      const Mailbox& box = places.knownMailboxes[m];
      if (isRing(box.input) || isRing(box.output)) return true;
    }
    return false;
  }

  /// Goes on until stuck, done, or `budgetBytes` are moved.
  DFCCL_HD Outcome advance(int64_t& budgetBytes, bool& progressed) {
    for (;;) {
      bool hasMoved = advanceStage(RingStage::fill, budgetBytes);
      if (plan_.hasReduce) hasMoved |= advanceStage(RingStage::reduce, budgetBytes);
      hasMoved |= advanceStage(RingStage::fetch, budgetBytes);
      progressed |= hasMoved;
      if (isOver()) return Outcome::completed;
      if (!hasMoved) return Outcome::stuck;
      if (budgetBytes <= 0) return Outcome::paused;
    }
  }

 private:
  DFCCL_HD static bool isRing(const Atomic<uint64_t>& word) {
    return ring_names::isRing(Mailbox::address(word.load(order::relaxed)));
  }

  DFCCL_HD Atomic<uint64_t>& progressOf(uint32_t member, RingStage stage) const {
    return c_.shared->ringProgress[member].tiles[static_cast<uint32_t>(stage)];
  }
  /// Tiles of this run that this member has done of a stage.
  DFCCL_HD uint32_t done(RingStage stage) const {
    const uint64_t tiles = progressOf(c_.member, stage).load(order::relaxed);
    return tiles > before_ ? static_cast<uint32_t>(tiles - before_) : 0;
  }
  DFCCL_HD bool haveAllDone(RingStage stage, uint64_t tiles) const {
    for (uint32_t m = 0; m < places_.members; ++m) {
      if (progressOf(m, stage).load(order::acquire) < before_ + tiles) return false;
    }
    return true;
  }

  /// Whether this member has done all that is its part. Whoever still reads from its ring says in the run's end when
  /// that is over.
  DFCCL_HD bool isOver() const {
    const uint32_t tiles = program_.tiles;
    return done(RingStage::fill) == tiles && (!plan_.hasReduce || done(RingStage::reduce) == tiles) &&
           done(RingStage::fetch) == tiles;
  }

  /// The stage behind: its members read what this one writes into rings.
  DFCCL_HD RingStage readerOf(RingStage stage) const {
    return stage == RingStage::fill && plan_.hasReduce ? RingStage::reduce : RingStage::fetch;
  }
  DFCCL_HD RingStage sourceOf(RingStage stage) const {
    return stage == RingStage::fetch && plan_.hasReduce ? RingStage::reduce : RingStage::fill;
  }

  /// The next tile of a stage, if it may begin; all of them, where nothing is to be done. @return whether it has.
  DFCCL_HD bool advanceStage(RingStage stage, int64_t& budgetBytes) {
    const uint32_t tile = done(stage);
    if (tile == program_.tiles) return false;
    uint32_t next = tile + 1;
    if (isNothing(stage)) {
      next = program_.tiles;
    } else {
      // What was there before the run began came with the names of the members' rings.
      const bool isThere = stage == RingStage::fill || plan_.isFilledBefore || haveAllDone(sourceOf(stage), next);
      if (Rules::readsWhatIsFilled && !isThere) return false;
      const bool isSlotNew = stage == RingStage::fetch || tile < plan_.slots;
      if (Rules::keepsWhatIsRead && !isSlotNew && !haveAllDone(readerOf(stage), next - plan_.slots)) return false;
      carryOut(stage, tile, budgetBytes);
    }
    progressOf(c_.member, stage).store(before_ + next, order::release);
    return true;
  }

  /// Whether this member has no part in a stage.
  DFCCL_HD bool isNothing(RingStage stage) const {
    if (stage == RingStage::fill) return plan_.isFilledBefore || plan_.inputChunks == 0 || run_.sendWindow == 0;
    return stage == RingStage::fetch && program_.steps.size() == (plan_.hasReduce ? 1 : 0);
  }

  DFCCL_HD void carryOut(RingStage stage, uint32_t tile, int64_t& budgetBytes) {
    if (stage == RingStage::fill) return fill(tile, budgetBytes);
    if (stage == RingStage::reduce) return move(program_.steps[0], tile, true, budgetBytes);
    for (size_t i = plan_.hasReduce ? 1 : 0; i < program_.steps.size(); ++i) {
      move(program_.steps[i], tile, false, budgetBytes);
    }
  }

  DFCCL_HD void fill(uint32_t tile, int64_t& budgetBytes) {
    for (uint32_t chunk = 0; chunk < plan_.inputChunks; ++chunk) {
      if (chunk == plan_.ownChunk) continue;
      auto& [sources, destinations, scales] = platform_.operands();
      sources[0] = ownAt(BufferKind::input, chunk, tile);
      destinations[0] = ring_ + plan_.inputOffset(chunk, tile);
      const uint64_t elements = program_.elementsOfTile(program_.range(BufferKind::input, chunk), tile);
      moveOperands(1, elements, 0, true, budgetBytes);
    }
  }

  /// @param isKept others fetch the result from this member's ring, if it has one.
  DFCCL_HD void move(const StepRecord& step, uint32_t tile, bool isKept, int64_t& budgetBytes) {
    auto& [sources, destinations, scales] = platform_.operands();
    const BoundRef* const refs = program_.refs.data() + step.firstRef;
    const BoundRef& result = refs[step.sourceCount];
    const auto buffer = static_cast<BufferKind>(result.buffer);
    const uint64_t elements = program_.elementsOfTile(program_.range(buffer, result.chunk), tile);
    for (uint32_t s = 0; s < step.sourceCount; ++s) {
      sources[s] = placeOf(refs[s], tile);
      scales[s] = static_cast<BufferKind>(refs[s].buffer) == BufferKind::input ? places_.scales[refs[s].rank] : 1.0;
    }
    destinations[0] = ownAt(buffer, result.chunk, tile);
    if (step.sourceCount == 1 && sources[0] == destinations[0]) return;  // in place
    const uint32_t divisor = c_.op == ReduceOp::avg && (step.flags & kFinish) != 0 ? places_.members : 0;
    moveOperands(step.sourceCount, elements, divisor, isKept, budgetBytes);
    if (!isKept || run_.recvWindow == 0) return;
    // By a copy, which fetches no lines that it only overwrites: they are in the caches of those who have read them.
    sources[0] = destinations[0];
    destinations[0] = ring_ + resultOffset(tile);
    moveOperands(1, elements, 0, true, budgetBytes);
  }

  /// @param isRead again soon, so it is to stay in a cache.
  DFCCL_HD void moveOperands(int sourceCount, uint64_t elements, uint32_t divisor, bool isRead, int64_t& budgetBytes) {
    if (elements == 0) return;
    const MoveOperands& operands = platform_.operands();
    ReduceCopyArgs args{operands.sources, sourceCount, operands.destinations, 1, elements};
    if (c_.op == ReduceOp::scaledSum && sourceCount > 1) args.scales = operands.scales;
    args.divisor = divisor;
    if (isRead) {
      platform_.reduceCopyNear(c_, args);
    } else {
      platform_.reduceCopy(c_, args, run_);
    }
    budgetBytes -= static_cast<int64_t>(elements * program_.elementBytes()) * (sourceCount + 1);
  }

  DFCCL_HD uint8_t* ownAt(BufferKind buffer, uint32_t chunk, uint32_t tile) const {
    const uint64_t address = buffer == BufferKind::input ? run_.sendAddress : run_.recvAddress;
    return reinterpret_cast<uint8_t*>(address) + offsetOf(buffer, chunk, tile);
  }
  DFCCL_HD uint64_t offsetOf(BufferKind buffer, uint32_t chunk, uint32_t tile) const {
    return program_.range(buffer, chunk).byteOffset + tile * program_.tileElements * program_.elementBytes();
  }

  /// Where a source is: of another member, in its ring, or in its buffer if all reach that.
  DFCCL_HD const void* placeOf(const BoundRef& ref, uint32_t tile) const {
    const auto buffer = static_cast<BufferKind>(ref.buffer);
    if (ref.rank == c_.member) return ownAt(buffer, ref.chunk, tile);
    const bool isInput = buffer == BufferKind::input;
    const Mailbox& box = places_.knownMailboxes[ref.rank];
    const uint64_t name = Mailbox::address((isInput ? box.input : box.output).load(order::relaxed));
    if (!ring_names::isRing(name)) return reinterpret_cast<uint8_t*>(name) + offsetOf(buffer, ref.chunk, tile);
    const auto* const ring = reinterpret_cast<const uint8_t*>(ring_names::ringOf(name));
    return ring + (isInput ? plan_.inputOffset(ref.chunk, tile) : resultOffset(tile));
  }
  DFCCL_HD uint64_t resultOffset(uint32_t tile) const {
    return plan_.resultOffset(program_.header.inputSegments * program_.header.chunksPerSegment, tile);
  }

  P& platform_;
  const CollectiveRecord& c_;
  const MeetingPlaces& places_;
  const RunAddresses& run_;
  const RingPlan& plan_;
  const BoundProgram& program_;
  uint8_t* const ring_;
  const uint64_t before_;  // tiles of the runs before this one
};

}  // namespace dfccl
