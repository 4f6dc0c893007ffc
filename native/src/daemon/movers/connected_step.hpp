#pragma once
// A step that receives from one connection, sends to another, or both, with a move in between (GC3, section 4.2).
#include <cstddef>
#include <cstdint>

#include "daemon/framing/protocols.hpp"
#include "daemon/movers/task_slice.hpp"
#include "daemon/state/connector.hpp"

namespace dfccl {

template <class P, class Slice = TaskSlice<P>>
class ConnectedStep {
 public:
  using Rules = typename P::Rules;

  DFCCL_HD ConnectedStep(const Slice& slice, const StepRecord& step)
      : slice_(slice),
        program_(slice.program),
        step_(step),
        op_(static_cast<Op>(step.op)),
        protocol_(static_cast<Protocol>(slice.program.header.protocol)),
        receives_(step.recvConnection != kNone),
        sends_(step.sendConnection != kNone) {}

  /// @return false when stuck, with nothing written.
  DFCCL_HD bool execute(int64_t& budgetBytes) const {
    const Connector* from = receives_ ? &slice_.collective.connections[step_.recvConnection] : nullptr;
    const Connector* to = sends_ ? &slice_.collective.connections[step_.sendConnection] : nullptr;
    const size_t stride = slice_.fullTileElements() * program_.elementBytes();
    const size_t payloadBytes = stride * step_.count;
    const bool recvPayload = receives_ && !isReceivedDirectly() && step_.count != 0;
    const bool sendPayload = sends_ && !isSentDirectly() && step_.count != 0;
    const uint64_t recvAt = receives_ ? from->receivePosition() : 0;
    const uint64_t sendAt = sends_ ? to->sendPosition() : 0;

    // The vote: nothing is written before everything this slice needs is there.
    if (Rules::voteBeforeWrite) {
      if (receives_ && !hasArrived(*from, recvAt, payloadBytes, !recvPayload)) return false;
      if (sends_ && Rules::credits && !to->hasCredit(sendAt)) return false;
    }

    const bool framed = isFramed(protocol_);
    uint8_t* received = nullptr;
    if (recvPayload) {
      uint8_t* slot = from->slotAt(recvAt);
      received = slot;
      if (framed) {
        received = slice_.platform.receiveStaging(payloadBytes);
        slice_.platform.unpack(protocol_, received, slot, payloadBytes);
      }
    }
    uint8_t* outgoing = nullptr;
    if (sendPayload) outgoing = framed ? slice_.platform.sendStaging(payloadBytes) : to->slotAt(sendAt);

    for (uint32_t i = 0; i < step_.count; ++i) moveChunk(i, stride, received, outgoing, budgetBytes);
    // Control: an engine that moves first and looks afterwards repeats the whole slice when it turns out to be stuck.
    if (!Rules::voteBeforeWrite) {
      if (receives_ && !hasArrived(*from, recvAt, payloadBytes, !recvPayload)) return false;
      if (sends_ && Rules::credits && !to->hasCredit(sendAt)) return false;
    }
    if (sends_) send(*to, sendAt, outgoing, sendPayload ? payloadBytes : 0);
    if (receives_) from->releaseSlot(recvAt);
    return true;
  }

 private:
  DFCCL_HD bool isReceivedDirectly() const { return (step_.flags & kDirectRecv) != 0; }
  DFCCL_HD bool isSentDirectly() const { return (step_.flags & kDirectSend) != 0; }

  DFCCL_HD bool hasArrived(const Connector& from, uint64_t position, size_t payloadBytes, bool signalOnly) const {
    if (!isFramed(protocol_)) {
      // Counters in common are on the other side of a bus, on a GPU: while a look goes there and back a task of another
      // run may have its turn.
      if (from.memory == from.theirs) return from.isPublished(position);
      return slice_.platform.poll([&] { return from.isPublished(position); });
    }
    return slice_.platform.hasArrived(protocol_, from, signalOnly ? 0 : payloadBytes);
  }

  DFCCL_HD void send(const Connector& to, uint64_t position, const uint8_t* payload, size_t bytes) const {
    if (isFramed(protocol_)) slice_.platform.pack(protocol_, to, payload, bytes);
    to.publishSlot(position);
  }

  DFCCL_HD bool readsLocal() const {
    return op_ == Op::send || op_ == Op::copy || op_ == Op::reduce || op_ == Op::recvReduceCopy ||
           op_ == Op::recvReduceSend || op_ == Op::recvReduceCopySend;
  }
  DFCCL_HD bool writesLocal() const {
    return op_ == Op::recv || op_ == Op::copy || op_ == Op::reduce || op_ == Op::recvCopySend ||
           op_ == Op::recvReduceCopy || op_ == Op::recvReduceCopySend;
  }

  DFCCL_HD void moveChunk(uint32_t i, size_t stride, uint8_t* received, uint8_t* outgoing, int64_t& budgetBytes) const {
    const uint32_t self = slice_.collective.member;
    auto& [sources, destinations, scales] = slice_.platform.operands();
    int sourceCount = 0;
    int destinationCount = 0;
    uint64_t elements = slice_.fullTileElements();
    const auto place = [&](uint32_t member, uint8_t buffer, uint32_t chunk) {
      const ChunkRange range = slice_.range(static_cast<BufferKind>(buffer), chunk + i);
      const uint64_t here = slice_.elementsHere(range);
      if (here < elements) elements = here;
      return slice_.at(member, static_cast<BufferKind>(buffer), range);
    };
    const auto addSource = [&](const void* p, double scale) {
      sources[sourceCount] = p;
      scales[sourceCount++] = scale;
    };

    if (op_ == Op::reduce) addSource(place(self, step_.dstBuffer, step_.dstChunk), 1.0);
    if (readsLocal()) {
      addSource(place(self, step_.srcBuffer, step_.srcChunk),
                slice_.scaleOf(static_cast<BufferKind>(step_.srcBuffer), self));
    }
    if (receives_) {
      addSource(isReceivedDirectly() ? place(self, step_.landingBuffer, step_.landingChunk) : received + i * stride,
                1.0);
    }
    const bool reduces = sourceCount == 2;
    if (writesLocal() && (reduces || !isReceivedDirectly())) {
      destinations[destinationCount++] = place(self, step_.dstBuffer, step_.dstChunk);
    }
    if (isSentDirectly()) {
      const uint32_t peer = sends_ ? program_.connections[step_.sendConnection].peer : 0;
      destinations[destinationCount++] = place(peer, step_.remoteBuffer, step_.remoteChunk);
    } else if (outgoing) {
      destinations[destinationCount++] = outgoing + i * stride;
    }
    slice_.move((step_.flags & kFinish) != 0, sourceCount, destinationCount, elements, budgetBytes);
  }

  const Slice& slice_;
  const BoundProgram& program_;
  const StepRecord& step_;
  const Op op_;
  const Protocol protocol_;
  const bool receives_;
  const bool sends_;
};

}  // namespace dfccl
