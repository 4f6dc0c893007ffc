#pragma once
// Executes one task's program, a slice at a time. Every wait is one look: what is not there makes the task stuck, and
// the daemon decides whether to look again or to run something else (two-phase blocking, dfccl.txt section 4.2).
#include <cstddef>
#include <cstdint>

#include "dfccl/daemon/exchange.hpp"
#include "dfccl/daemon/prepared_part.hpp"
#include "dfccl/daemon/records.hpp"
#include "dfccl/reduce_copy.hpp"

namespace dfccl {

enum class Outcome : uint8_t {
  stuck,      // waits for somebody else
  paused,     // made progress and used its budget up
  blockDone,  // this block's part is finished; other blocks of the rank still run
  completed,  // the run is finished on this rank, and nobody touches its buffers any more
  aborted,    // this block's part was the last, but another block has given its part up
};

inline constexpr int kMaxStepRefs = 256;  // sources or destinations of one step; the loader refuses more

/// The operands of one move: memory of the platform's, because on a GPU the whole block reads them.
struct MoveOperands {
  const void* sources[kMaxStepRefs];
  void* destinations[kMaxStepRefs];
  double scales[kMaxStepRefs];
};

template <class P>
class Interpreter {
 public:
  using Rules = typename P::Rules;

  /// @param collective the record itself, for what changes in it.
  /// @param view its constant part, which may be a nearer copy.
  DFCCL_HD Interpreter(P& platform, const CollectiveRecord& collective, const CollectiveRecord& view,
                       const RunAddresses& run, RunRecord& record, uint32_t programBlock, DynamicContext& context,
                       PreparedPart& prepared)
      : platform_(platform),
        live_(collective),
        c_(view),
        places_(*view.places),
        program_(*view.program),
        run_(run),
        record_(record),
        block_(programBlock),
        d_(context),
        prepared_(prepared) {}

  /// Goes on until stuck, done, or `budgetBytes` are moved. `progressed` tells whether anything was committed.
  DFCCL_HD Outcome advance(int64_t& budgetBytes, bool& progressed) {
    if (d_.phase == Phase::starting) {
      if (!isMyTurn()) return Outcome::stuck;
      d_.phase = Phase::meeting;
    }
    if (d_.phase == Phase::meeting) {
      if (runsTogether()) return advanceTogether(budgetBytes, progressed);
      if (!start(progressed)) return Outcome::stuck;
      d_.phase = Phase::running;
      d_.step = 0;
      d_.tile = 0;
      progressed = true;
    }
    if (d_.phase == Phase::running) {
      const BlockRecord& block = program_.blocks[block_];
      const StepRecord* steps = program_.steps.data() + block.firstStep;
      for (;;) {
        if (d_.step == block.stepCount) {
          d_.step = 0;
          if (++d_.tile >= program_.tiles || block.stepCount == 0) break;
        }
        if (!runSlice(steps[d_.step], budgetBytes, block.stepCount, progressed)) return Outcome::stuck;
        ++d_.step;
        progressed = true;
        if (budgetBytes <= 0 && !(d_.step == block.stepCount && d_.tile + 1 >= program_.tiles)) return Outcome::paused;
      }
      progressed = true;
      const RunProgress run = record_.blocksDone.count(1, program_.header.blockCount);
      if (run == RunProgress::blocksLeft) return Outcome::blockDone;
      // Another block gave its part up, so the result is not complete, here or at the peers.
      if (run == RunProgress::aborted) return Outcome::aborted;
      if (!program_.usesDirect() || !Rules::completeAfterAcknowledge) return Outcome::completed;
      P::finishAccess(places_);
      d_.phase = Phase::draining;
    }
    const uint64_t everybody = (run_.run + 1) * places_.members;
    const Atomic<uint64_t>& finished = c_.shared->finishedAccess;
    const bool isOver = platform_.poll([&] { return finished.load(P::kLook) >= everybody; });
    if (isOver) P::found(finished);
    return isOver ? Outcome::completed : Outcome::stuck;
  }

  /// Tells the peers where this run's buffers are, as soon as it is this run's turn: a pointer published when the
  /// request comes in, not when its task is scheduled, cuts preemptions tenfold.
  DFCCL_HD void publishBuffers(bool& progressed) {
    if (d_.published || block_ != 0 || !program_.usesDirect()) return;
    if (d_.phase == Phase::starting && !isMyTurn()) return;
    d_.phase = Phase::meeting;
    for (uint32_t copy = 0; copy < places_.copyCount; ++copy) {
      places_.mailboxCopies[copy][c_.member].publish(run_.sendAddress, run_.recvAddress, run_.run, P::kPublishOrder);
    }
    if (runsTogether()) arrive();
    d_.published = 1;
    progressed = true;
  }

  /// Sends this member's part of the first slice of an exchange before the task's turn.
  DFCCL_HD void sendEarly() {
    const BlockRecord& block = program_.blocks[block_];
    if (block.stepCount == 0 || !isMyTurn()) return;
    uint64_t count = 0;
    carryOut(program_.steps[block.firstStep], true, count);
    d_.isSent = 1;
  }

  /// Makes ready what every run of this block's part repeats, if that is a single step. @pre A run has ended.
  DFCCL_HD DFCCL_COLD void prepare(uint32_t task) {
    const BlockRecord& block = program_.blocks[block_];
    if (program_.tiles != 1 || block.stepCount != 1) return;
    const StepRecord& step = program_.steps[block.firstStep];
    if (step.dependencyCount != 0 || step.isAwaited) return;
    d_.tile = 0;
    const bool isReady = program_.exchanges ? prepareExchange(step) : prepareMove(step);
    prepared_.isExchange = program_.exchanges;
    if (isReady) prepared_.task = task;
  }

 private:
  DFCCL_HD bool isMyTurn() const {
    if (Rules::holdUntilRegistered && !platform_.isComplete(c_)) return false;
    // With a single block there is nobody to wait for: it begins a run when it has ended the one before.
    if (!Rules::runsInOrder || program_.header.blockCount == 1) return true;
    if (live_.finishedRuns.load(P::kLook) != run_.run) return false;
    P::foundTurn(live_.finishedRuns);
    return true;
  }

  /// Little to move, in steps that any rank could execute: whoever comes last does it for everybody, which spares the
  /// others a turn each. @pre isMyTurn(): all members have registered.
  DFCCL_HD bool runsTogether() const {
    if (!P::kRunsTogether) return false;
    return c_.shared->togetherBytes.load(order::relaxed) <= static_cast<uint64_t>(P::kTogetherBytes);
  }

  // The next run's arrivals begin after this run was executed, so the count alone tells who is last. It hands the
  // members' buffers on: released by each arrival, acquired by the last.
  DFCCL_HD void arrive() {
    const uint64_t arrivals = c_.shared->arrivals.fetchAdd(1, order::acqRel) + 1;
    d_.isLast = arrivals == (run_.run + 1) * places_.members || !Rules::mailboxNamesRun;
  }

  DFCCL_HD Outcome advanceTogether(int64_t& budgetBytes, bool& progressed) {
    publishBuffers(progressed);
    CollectiveShared& shared = *c_.shared;
    if (d_.isLast) {
      for (const JointMove& joint : shared.joint.moves) moveJointly(joint, budgetBytes);
      shared.executedRuns.store(run_.run + 1, order::release);
    } else if (shared.executedRuns.load(order::acquire) <= run_.run && Rules::completeAfterAcknowledge) {
      return Outcome::stuck;
    }
    progressed = true;
    record_.blocksDone.count(1, 1);
    return Outcome::completed;
  }

  DFCCL_HD bool start(bool& progressed) {
    if (!program_.usesDirect()) return true;
    publishBuffers(progressed);
    if (!Rules::mailboxNamesRun || !program_.touchesPeers) return true;
    // `step` counts the members whose buffers are known while the task is starting, so that a retry goes on there.
    d_.step = platform_.lookForMailboxes(places_, run_.run, d_.step);
    return d_.step == places_.members;
  }

  DFCCL_HD uint8_t* base(uint32_t member, BufferKind buffer) const {
    if (buffer == BufferKind::scratch) return member == c_.member ? c_.scratch : places_.scratch[member];
    if (member == c_.member) {
      return reinterpret_cast<uint8_t*>(buffer == BufferKind::input ? run_.sendAddress : run_.recvAddress);
    }
    const Mailbox& box = places_.knownMailboxes[member];
    const uint64_t word = (buffer == BufferKind::input ? box.input : box.output).load(order::relaxed);
    return reinterpret_cast<uint8_t*>(Mailbox::address(word));
  }

  DFCCL_HD uint8_t* at(uint32_t member, BufferKind buffer, const ChunkRange& range) const {
    return base(member, buffer) + range.byteOffset + d_.tile * program_.tileElements * program_.elementBytes();
  }

  DFCCL_HD double scaleOf(BufferKind buffer, uint32_t member) const {
    return buffer == BufferKind::input ? places_.scales[member] : 1.0;
  }

  DFCCL_HD bool dependenciesMet(const StepRecord& step) const {
    for (uint32_t i = 0; i < step.dependencyCount; ++i) {
      const DependencyRecord& d = program_.dependencies[step.firstDependency + i];
      const uint64_t loop = run_.run * program_.tiles + d_.tile;
      const uint64_t needed = loop * program_.blocks[d.block].stepCount + d.step + 1;
      if (c_.blockProgress[d.block].load(order::acquire) < needed) return false;
    }
    return true;
  }

  /// @return false when stuck, with nothing written.
  DFCCL_HD bool runSlice(const StepRecord& step, int64_t& budgetBytes, uint32_t stepCount, bool& progressed) {
    if (step.dependencyCount != 0 && !dependenciesMet(step)) return false;
    if (program_.exchanges) {
      if (!exchange(step, budgetBytes, progressed)) return false;
    } else if (static_cast<Op>(step.op) == Op::multiReduceCopy) {
      multiReduceCopy(step, budgetBytes);
    } else if (static_cast<Op>(step.op) != Op::nop && !connectedStep(step, budgetBytes)) {
      return false;
    }
    if (step.isAwaited) {
      const uint64_t loop = run_.run * program_.tiles + d_.tile;
      c_.blockProgress[block_].store(loop * stepCount + d_.step + 1, order::release);
    }
    return true;
  }

  DFCCL_HD Exchange exchangeOf(const StepRecord& step) const {
    const BoundRef* refs = program_.refs.data() + step.firstRef;
    const uint32_t chunk = refs[0].chunk;
    const ChunkRange range = program_.range(BufferKind::input, chunk);
    const uint64_t slots = program_.landingSlots();
    const uint64_t slot = uint64_t{chunk} * program_.tiles + d_.tile;
    const uint64_t half = Rules::landsByParity ? run_.run % 2 * places_.members * slots : 0;
    Exchange e;
    e.type = c_.type;
    e.op = c_.op;
    e.isSent = d_.isSent;
    e.isSendOnly = 0;
    e.member = c_.member;
    e.members = places_.members;
    e.divisor = c_.op == ReduceOp::avg ? places_.members : 0;
    e.run = run_.run;
    e.own = at(c_.member, BufferKind::input, range);
    e.result = at(c_.member, BufferKind::output, range);
    e.count = program_.elementsOfTile(range, d_.tile);
    e.scales = places_.scales;
    e.landings = places_.landings;
    e.slotOffset = (half + slot) * program_.landingSlotBytes;
    e.memberStride = slots * program_.landingSlotBytes;
    return e;
  }

  DFCCL_HD bool prepareExchange(const StepRecord& step) {
    const Exchange e = exchangeOf(step);
    PreparedExchange& prepared = prepared_.exchange;
    static_cast<Exchange&>(prepared) = e;
    prepared.isSent = 0;
    prepared.byteOffset = reinterpret_cast<uint64_t>(e.own) - run_.sendAddress;
    prepared.halfBytes = Rules::landsByParity ? places_.members * e.memberStride : 0;
    prepared.evenSlotOffset = e.slotOffset - (run_.run % 2 != 0 ? prepared.halfBytes : 0);
    return e.count != 0;
  }

  DFCCL_HD bool prepareMove(const StepRecord& step) {
    const uint32_t operands = uint32_t{step.sourceCount} + step.destinationCount;
    if (static_cast<Op>(step.op) != Op::multiReduceCopy || step.count != 1 || c_.op == ReduceOp::scaledSum)
      return false;
    if (!program_.usesDirect() || operands > PreparedMove::kMostOperands || runsTogether()) return false;
    PreparedMove& move = prepared_.move;
    move.sourceCount = step.sourceCount;
    move.destinationCount = step.destinationCount;
    move.elements = program_.tileElements;
    move.divisor = c_.op == ReduceOp::avg && (step.flags & kFinish) != 0 ? places_.members : 0;
    const BoundRef* refs = program_.refs.data() + step.firstRef;
    for (uint32_t i = 0; i < operands; ++i) {
      const auto buffer = static_cast<BufferKind>(refs[i].buffer);
      if (buffer == BufferKind::scratch) return false;
      const ChunkRange range = program_.range(buffer, refs[i].chunk);
      if (range.elements < move.elements) move.elements = range.elements;
      move.operands[i] = {refs[i].rank, buffer, range.byteOffset};
    }
    return move.elements != 0 && step.destinationCount != 0;
  }

  /// @return whether all parts were there.
  DFCCL_HD bool carryOut(const StepRecord& step, bool isSendOnly, uint64_t& count) {
    if (P::kTriesAtOnce && prepared_.task != PreparedPart::kNoTask) {
      PreparedExchange& e = prepared_.exchange;
      e.aimAt(run_);
      e.isSent = d_.isSent;
      e.isSendOnly = isSendOnly;
      platform_.beginExchange(e);
      const bool isThere = platform_.endExchange();
      e.isSent = e.isSendOnly = 0;
      count = e.count;
      return isThere;
    }
    Exchange e = exchangeOf(step);
    e.isSendOnly = isSendOnly;
    count = e.count;
    return count == 0 || platform_.exchange(e);
  }

  DFCCL_HD bool exchange(const StepRecord& step, int64_t& budgetBytes, bool& progressed) {
    uint64_t count = 0;
    if (!carryOut(step, false, count)) {
      progressed |= d_.isSent == 0;
      d_.isSent = 1;
      return false;
    }
    budgetBytes -= static_cast<int64_t>(count * program_.elementBytes()) * (2 * places_.members);
    d_.isSent = 0;
    return true;
  }

  DFCCL_HD void moveJointly(const JointMove& joint, int64_t& budgetBytes) {
    auto& [sources, destinations, scales] = platform_.operands();
    const JointRef* ref = c_.shared->joint.refs.data() + joint.firstRef;
    for (uint32_t s = 0; s < joint.sourceCount; ++s, ++ref) {
      sources[s] = base(ref->member, ref->buffer) + ref->byteOffset;
      if (c_.op == ReduceOp::scaledSum) scales[s] = scaleOf(ref->buffer, ref->member);
    }
    for (uint32_t t = 0; t < joint.destinationCount; ++t, ++ref) {
      destinations[t] = base(ref->member, ref->buffer) + ref->byteOffset;
    }
    move(joint.finishes, joint.sourceCount, joint.destinationCount, joint.elements, budgetBytes);
  }

  DFCCL_HD void multiReduceCopy(const StepRecord& step, int64_t& budgetBytes) {
    auto& [sources, destinations, scales] = platform_.operands();
    const BoundRef* refs = program_.refs.data() + step.firstRef;
    const uint32_t sourceCount = step.sourceCount;
    const uint32_t destinationCount = step.destinationCount;
    const uint64_t tileBegin = d_.tile * program_.tileElements;
    const uint64_t tileOffset = tileBegin * program_.elementBytes();
    for (uint32_t i = 0; i < step.count; ++i) {
      // Of a small buffer most ranks have an empty chunk.
      if (program_.range(static_cast<BufferKind>(refs[0].buffer), refs[0].chunk + i).elements <= tileBegin) continue;
      uint64_t end = tileBegin + program_.tileElements;  // of the tile within its chunk
      const auto place = [&](const BoundRef& ref) {
        const auto buffer = static_cast<BufferKind>(ref.buffer);
        const ChunkRange range = program_.range(buffer, ref.chunk + i);
        if (range.elements < end) end = range.elements;
        return base(ref.rank, buffer) + range.byteOffset + tileOffset;
      };
      for (uint32_t s = 0; s < sourceCount; ++s) sources[s] = place(refs[s]);
      for (uint32_t t = 0; t < destinationCount; ++t) destinations[t] = place(refs[sourceCount + t]);
      if (end <= tileBegin) continue;
      if (c_.op == ReduceOp::scaledSum) {
        for (uint32_t s = 0; s < sourceCount; ++s) {
          scales[s] = scaleOf(static_cast<BufferKind>(refs[s].buffer), refs[s].rank);
        }
      }
      move((step.flags & kFinish) != 0, static_cast<int>(sourceCount), static_cast<int>(destinationCount),
           end - tileBegin, budgetBytes);
    }
  }

  /// Moves between the first operands of each list.
  DFCCL_HD void move(bool finishes, int sourceCount, int destinationCount, uint64_t elements, int64_t& budgetBytes) {
    if (elements == 0 || destinationCount == 0) return;
    const MoveOperands& operands = platform_.operands();
    ReduceCopyArgs args{operands.sources, sourceCount, operands.destinations, destinationCount, elements};
    if (c_.op == ReduceOp::scaledSum) args.scales = operands.scales;
    if (c_.op == ReduceOp::avg && finishes) args.divisor = places_.members;
    platform_.reduceCopy(c_.type, c_.op, args, c_.workingSetBytes);
    budgetBytes -= static_cast<int64_t>(elements * program_.elementBytes()) * (sourceCount + destinationCount);
  }

  /// Elements that a full chunk has in this tile: what both ends of a connection agree on.
  DFCCL_HD uint64_t fullTileElements() const { return program_.elementsOfTile({0, program_.chunkElements}, d_.tile); }

  DFCCL_HD bool hasArrived(const Connector& from, size_t payloadBytes, bool signalOnly) const {
    if (protocol() == Protocol::simple) return platform_.poll([&] { return from.isPublished(); });
    return platform_.hasArrived(protocol(), from, signalOnly ? 0 : payloadBytes);
  }

  DFCCL_HD Protocol protocol() const { return static_cast<Protocol>(program_.header.protocol); }

  DFCCL_HD bool connectedStep(const StepRecord& step, int64_t& budgetBytes) {
    const auto op = static_cast<Op>(step.op);
    const bool receives = step.recvConnection != kNone;
    const bool sends = step.sendConnection != kNone;
    const Connector* from = receives ? &c_.connections[step.recvConnection] : nullptr;
    const Connector* to = sends ? &c_.connections[step.sendConnection] : nullptr;
    const size_t elementBytes = program_.elementBytes();
    const size_t stride = fullTileElements() * elementBytes;
    const size_t payloadBytes = stride * step.count;
    const bool directRecv = (step.flags & kDirectRecv) != 0;
    const bool directSend = (step.flags & kDirectSend) != 0;
    const bool recvPayload = receives && !directRecv && step.count != 0;
    const bool sendPayload = sends && !directSend && step.count != 0;

    // The vote: nothing is written before everything this slice needs is there.
    if (Rules::voteBeforeWrite) {
      if (receives && !hasArrived(*from, payloadBytes, !recvPayload)) return false;
      if (sends && Rules::credits && !to->hasCredit()) return false;
    }

    const bool framed = protocol() != Protocol::simple;
    uint8_t* received = nullptr;
    if (recvPayload) {
      uint8_t* slot = from->slotAt(from->receivePosition());
      received = slot;
      if (framed) {
        received = platform_.receiveStaging(payloadBytes);
        platform_.unpack(protocol(), received, slot, payloadBytes);
      }
    }
    uint8_t* outgoing = nullptr;
    if (sendPayload) outgoing = framed ? platform_.sendStaging(payloadBytes) : to->slotAt(to->sendPosition());

    for (uint32_t i = 0; i < step.count; ++i) {
      moveChunk(step, op, i, stride, received, outgoing, to ? program_.connections[step.sendConnection].peer : 0,
                budgetBytes);
    }
    // Control: an engine that moves first and looks afterwards repeats the whole slice when it turns out to be stuck.
    if (!Rules::voteBeforeWrite) {
      if (receives && !hasArrived(*from, payloadBytes, !recvPayload)) return false;
      if (sends && Rules::credits && !to->hasCredit()) return false;
    }
    if (sends) send(*to, outgoing, sendPayload ? payloadBytes : 0);
    if (receives) from->releaseSlot();
    return true;
  }

  DFCCL_HD void moveChunk(const StepRecord& step, Op op, uint32_t i, size_t stride, uint8_t* received,
                          uint8_t* outgoing, uint32_t peer, int64_t& budgetBytes) {
    auto& [sources, destinations, scales] = platform_.operands();
    int sourceCount = 0;
    int destinationCount = 0;
    uint64_t elements = fullTileElements();
    const auto place = [&](uint32_t member, uint8_t buffer, uint32_t chunk) {
      const ChunkRange range = program_.range(static_cast<BufferKind>(buffer), chunk + i);
      const uint64_t here = program_.elementsOfTile(range, d_.tile);
      if (here < elements) elements = here;
      return at(member, static_cast<BufferKind>(buffer), range);
    };
    const auto addSource = [&](const void* p, double scale) {
      sources[sourceCount] = p;
      scales[sourceCount++] = scale;
    };
    const bool directRecv = (step.flags & kDirectRecv) != 0;
    const bool receives = step.recvConnection != kNone;

    if (op == Op::reduce) addSource(place(c_.member, step.dstBuffer, step.dstChunk), 1.0);
    const bool readsLocal = op == Op::send || op == Op::copy || op == Op::reduce || op == Op::recvReduceCopy ||
                            op == Op::recvReduceSend || op == Op::recvReduceCopySend;
    if (readsLocal) {
      addSource(place(c_.member, step.srcBuffer, step.srcChunk),
                scaleOf(static_cast<BufferKind>(step.srcBuffer), c_.member));
    }
    if (receives) {
      addSource(directRecv ? place(c_.member, step.landingBuffer, step.landingChunk) : received + i * stride, 1.0);
    }
    const bool reduces = sourceCount == 2;
    const bool writesLocal = op == Op::recv || op == Op::copy || op == Op::reduce || op == Op::recvCopySend ||
                             op == Op::recvReduceCopy || op == Op::recvReduceCopySend;
    if (writesLocal && (reduces || !directRecv))
      destinations[destinationCount++] = place(c_.member, step.dstBuffer, step.dstChunk);
    if (step.flags & kDirectSend) {
      destinations[destinationCount++] = place(peer, step.remoteBuffer, step.remoteChunk);
    } else if (outgoing) {
      destinations[destinationCount++] = outgoing + i * stride;
    }
    move((step.flags & kFinish) != 0, sourceCount, destinationCount, elements, budgetBytes);
  }

  DFCCL_HD void send(const Connector& to, const uint8_t* payload, size_t bytes) {
    if (protocol() != Protocol::simple) platform_.pack(protocol(), to, payload, bytes);
    to.publishSlot();
  }

  P& platform_;
  const CollectiveRecord& live_;
  const CollectiveRecord& c_;
  const MeetingPlaces& places_;
  const BoundProgram& program_;
  const RunAddresses& run_;
  RunRecord& record_;
  const uint32_t block_;
  DynamicContext& d_;
  PreparedPart& prepared_;
};

}  // namespace dfccl
