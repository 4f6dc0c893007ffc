#pragma once
// What moves data on a GPU: the control thread writes an order, the workers carry it out.
#include "block/block_shared.cuh"
#include "daemon/framing/protocols.hpp"
#include "daemon/state/connector.hpp"
#include "daemon/state/exchange.hpp"
#include "daemon/state/trace_point.hpp"
#include "near_images.cuh"
#include "team.cuh"

namespace dfccl::gpu {

class TeamMoves : public NearImages {
 public:
  __device__ static void mark(TracePoint point, uint64_t value) { writeTrace(blockShared().trace, point, value); }

  __device__ MoveOperands& operands() { return blockShared().operands; }

  __device__ static void reduceCopy(const CollectiveRecord& view, const ReduceCopyArgs& args, const RunAddresses&) {
    TeamOrder& order = blockShared().order;
    order.work = Work::reduceCopy;
    order.type = view.type;
    order.op = view.op;
    order.args = args;
    mark(TracePoint::moveOrdered, static_cast<uint64_t>(Work::reduceCopy));
    gpu::carryOut();
    mark(TracePoint::moveDone, static_cast<uint64_t>(Work::reduceCopy));
  }

  __device__ static void beginSeries() {}
  __device__ static void endSeries() {}

  /// As reduceCopy, with operands that the workers look up themselves: the control thread would take one after another.
  __device__ static void movePrepared(const CollectiveRecord& view, const RunAddresses& run, const PreparedMove& move) {
    TeamOrder& order = blockShared().order;
    MoveOperands& operands = blockShared().operands;
    order.op = view.op;
    order.move = &move;
    order.args = {operands.sources, static_cast<int>(move.sourceCount), operands.destinations,
                  static_cast<int>(move.destinationCount), move.elements};
    order.args.divisor = move.divisor;
    orderPrepared(Work::preparedMove, view, run);
  }
  __device__ static void copyPrepared(const CollectiveRecord& view, const RunAddresses& run,
                                      const PreparedCopies& copies) {
    blockShared().order.copies = &copies;
    orderPrepared(Work::preparedCopies, view, run);
  }

  __device__ static bool hasArrived(Protocol protocol, const Connector& from, size_t bytes) {
    TeamOrder& order = blockShared().order;
    const uint64_t position = from.receivePosition();
    order.work = Work::hasArrived;
    order.protocol = protocol;
    order.slot = from.slotAt(position);
    order.bytes = bytes;
    order.position = position;
    order.isUnanimous = 1;
    gpu::carryOut();
    return *static_cast<volatile uint32_t*>(&order.isUnanimous) != 0;
  }
  __device__ static void unpack(Protocol protocol, uint8_t* payload, uint8_t* slot, size_t bytes) {
    TeamOrder& order = blockShared().order;
    order.work = Work::unpack;
    order.protocol = protocol;
    order.slot = slot;
    order.payload = payload;
    order.bytes = bytes;
    gpu::carryOut();
  }
  __device__ static void pack(Protocol protocol, const Connector& to, const uint8_t* payload, size_t bytes) {
    TeamOrder& order = blockShared().order;
    const uint64_t position = to.sendPosition();
    order.work = Work::pack;
    order.protocol = protocol;
    order.slot = to.slotAt(position);
    order.payload = const_cast<uint8_t*>(payload);
    order.bytes = bytes;
    order.position = position;
    order.slotBytes = to.slotBytes;
    order.fill = isFillDue(position, to.slotCount);
    gpu::carryOut();
  }

  __device__ static bool exchange(const Exchange& e) {
    TeamOrder& order = blockShared().order;
    order.exchange = e;
    beginExchange(order.exchange);
    return endExchange();
  }
  /// @param e in shared memory. The workers are at it until endExchange.
  __device__ static void beginExchange(const Exchange& e) { orderExchange(Work::exchange, e); }
  __device__ static void beginExchange(const PreparedExchange& e) { orderExchange(Work::preparedExchange, e); }
  __device__ static bool endExchange() {
    TeamOrder& order = blockShared().order;
    meetAt<kEndBarrier>();
    mark(TracePoint::moveDone, static_cast<uint64_t>(Work::exchange));
    return *static_cast<volatile uint32_t*>(&order.isUnanimous) != 0;
  }

  __device__ uint8_t* receiveStaging(size_t) { return blockShared().staging; }
  __device__ uint8_t* sendStaging(size_t) { return blockShared().staging + kStagingBytes; }

 private:
  __device__ static void orderPrepared(Work work, const CollectiveRecord& view, const RunAddresses& run) {
    TeamOrder& order = blockShared().order;
    order.work = work;
    order.type = view.type;
    order.view = &view;
    order.run = run;
    mark(TracePoint::moveOrdered, static_cast<uint64_t>(Work::reduceCopy));
    gpu::carryOut();
    mark(TracePoint::moveDone, static_cast<uint64_t>(Work::reduceCopy));
  }

  __device__ static void orderExchange(Work work, const Exchange& e) {
    TeamOrder& order = blockShared().order;
    order.work = work;
    order.exchangeOffset = static_cast<uint32_t>(reinterpret_cast<const unsigned char*>(&e) - dynamicShared);
    mark(TracePoint::moveOrdered, static_cast<uint64_t>(Work::exchange));
    meetAt<kBeginBarrier>();
  }
};

}  // namespace dfccl::gpu
