#pragma once
// A run that a graph carries out: a kernel of its own, which needs no daemon, no thread of the host's, and nothing that
// is set back between two launches of the graph (decision 38); or a run in a stream (decision 47). Whatever the
// collective is, its members send each other lines with flags, a tile at a time, through memory that was mapped when
// the ranks met; large ones move from and to each other's buffers where they reach them (decision 48). Here is what
// such a kernel is given, and what it keeps.
#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/atomics.hpp"
#include "base/types.hpp"
#include "daemon/state/exchange.hpp"
#include "daemon/state/windows.hpp"
#include "device/captured/captured_form.cuh"
#include "device/captured/captured_lane.cuh"
#include "device/captured/known_windows.cuh"

namespace dfccl::gpu {

/// Blocks of such a kernel. Only the first of them waits for peers for long.
inline constexpr uint32_t kMostCapturedLanes = 32;
inline constexpr uint32_t kMostCapturedMembers = 64;
/// Threads of a block.
inline constexpr uint32_t kCapturedWorkers = 448;
/// Payload of a tile, at most: what the workers of a block hold in registers, eight lines each.
inline constexpr uint32_t kCapturedTileBytes = 28672;

/// The members' landing areas and factors, and what the names of their buffers mean here, once all have registered.
struct CapturedMembers {
  uint8_t* landings[kMostCapturedMembers];
  double scales[kMostCapturedMembers];
  windows::Table windows[kMostCapturedMembers];  // in the host's memory; null: they are addresses
};

/// What the host and the kernels of a collective's captured runs tell each other, in the host's memory.
struct alignas(128) CapturedNotes {
  Atomic<uint32_t> isComplete;  // the host's: `members` is there
  Atomic<uint32_t> mustEnd;     // the host's: runs end, and move nothing
  Atomic<uint32_t> isBegun;     // the kernels': a graph that has runs of it was launched
  Atomic<uint64_t> ended;       // the kernels': runs that came to no result. Of others nothing is told: a kernel is not
                                // over before its stores have come to the host
  // The kernels', of runs in streams: the number of the last one that has begun, and of the last one that is over.
  Atomic<uint64_t> begunInStreams;
  Atomic<uint64_t> overInStreams;
  Atomic<uint64_t> firstEndedInStreams;  // and of the first that came to no result; 0: none has
  CapturedMembers members;               // the host's
};

/// Of a lane: a block's part of each run. In the device's memory; begins as zeros.
struct alignas(128) CapturedLane {
  Atomic<uint64_t, Scope::device> word;        // see CapturedTurn
  uint32_t tile;                               // where it was left, above whether its part was sent
  uint32_t isKnown;                            // `members` is there
  Atomic<uint64_t, Scope::device> handedOver;  // see CapturedHandover
  CapturedMembers members;
};

/// What the kernels of a collective's captured runs keep between them. In the device's memory; begins as zeros.
struct CapturedState {
  alignas(128) Atomic<uint32_t> mustEnd;  // as CapturedNotes::mustEnd, for runs that have yet to begin
  Atomic<uint32_t> overInStreams;         // as CapturedNotes has it, its low bits, for streams to wait for
  CapturedLane lanes[1];                  // as many as the runs have

  static constexpr size_t bytes(uint32_t lanes) {
    return sizeof(CapturedState) + (size_t{lanes} - 1) * sizeof(CapturedLane);
  }
};

/// What a member of a large run tells another one of a lane, in the other's landing area; see DirectLane.
struct alignas(32) DirectPost {
  Atomic<uint64_t> input, output;  // as in a Mailbox
  Atomic<uint64_t> renewals;       // of the names, packed as they are
  Atomic<uint64_t> said;
};

/// What the receiver of messages tells the sender of a lane, in the sender's landing area; see MessageRoom.
struct alignas(32) MessageTaken {
  Atomic<uint64_t> word;
};

/// How a collective's captured runs are cut up: the same on all of its ranks.
struct CapturedLayout {
  uint32_t lanes;
  uint64_t laneElements;  // of a segment: a full lane's
  uint64_t tileElements;
  uint32_t slotBytes;  // of a tile, on the wire
  bool isLarge;        // its members meet, and move from and to each other's buffers where all are within reach
  bool isMessage;      // of one member to one other, see MessageRoom

  struct Shape {
    DataType type;
    uint64_t count;     // elements of a segment
    uint32_t segments;  // of a member's larger buffer
    uint32_t members;
    bool isOfGraphs;
    bool isMessage;
    uint32_t mostLanes;  // at least one
    bool isAllReduce = false;
  };
  static CapturedLayout of(const Shape& shape);
  DFCCL_HD uint64_t memberStride() const { return uint64_t{lanes} * slotBytes; }
  /// Slots of a lane in a member's landing area, of each parity: one for every member; of a message, the receiver's
  /// alone has any.
  DFCCL_HD uint32_t slotsIn(uint32_t member, uint32_t members, uint32_t root) const {
    return !isMessage ? members : member == root ? 0 : 1;
  }
  /// What lies behind the slots begins there.
  DFCCL_HD uint64_t slotsBytes(uint32_t member, uint32_t members, uint32_t root) const {
    return 2 * slotsIn(member, members, root) * memberStride();
  }
  DFCCL_HD uint64_t postsBytes(uint32_t members) const {
    return isLarge ? 2 * uint64_t{lanes} * members * sizeof(DirectPost) : 0;
  }
  uint64_t landingBytes(uint32_t member, uint32_t members, uint32_t root) const {
    const bool isTold = isMessage && member == root;
    return slotsBytes(member, members, root) + postsBytes(members) + (isTold ? lanes * sizeof(MessageTaken) : 0);
  }
};

/// A run, as its kernel gets it by value: a graph that is updated gets other buffers so.
struct CapturedRun {
  CapturedNotes* notes;
  CapturedState* state;
  KnownWindows* known;
  const void* send;
  void* recv;
  Collective collective;
  DataType type;
  ReduceOp op;
  uint32_t member;
  uint32_t members;
  uint32_t root;
  uint64_t count;  // elements of a segment
  int32_t form;    // see CapturedForm
  CapturedLayout layout;
  uint16_t sendWindow, recvWindow;  // by which the others know its buffers, see daemon/state/windows.hpp
  uint32_t renewals;                // of those, see OwnWindows::renewals()
  uint64_t numberInStreams;         // of a run that is a kernel in its stream; 0: it is a graph's
  bool isAwaited;       // such a run's results are there for whoever hears that it is over: not only in its stream
  bool isBehindStream;  // the one before it was in another stream

  /// Whether a member sends another one any of its data.
  DFCCL_HD bool sends(uint32_t from, uint32_t to) const {
    switch (collective) {
      case Collective::broadcast:
      case Collective::scatter:
      case Collective::sendRecv:
        return from == root;
      case Collective::reduce:
      case Collective::gather:
        return to == root;
      case Collective::barrier:
        return false;
      default:
        return true;
    }
  }
  /// Whether two members send each other at least a flag: nobody is more than a tile ahead of whom it sends to. The
  /// sender of a message doesn't wait for one, see MessageRoom.
  DFCCL_HD bool meet(uint32_t one, uint32_t other) const {
    return collective == Collective::barrier || sends(one, other) || sends(other, one);
  }
  DFCCL_HD bool isReduction() const {
    return collective == Collective::allReduce || collective == Collective::reduceScatter ||
           collective == Collective::reduce;
  }
  /// By this member.
  DFCCL_HD bool isReduced() const { return isReduction() && (collective != Collective::reduce || member == root); }
  /// Whether this member's buffers are used at all: else their addresses may be anything.
  DFCCL_HD bool usesSend() const {
    const bool isFromRoot =
        collective == Collective::broadcast || collective == Collective::scatter || collective == Collective::sendRecv;
    return !isFromRoot || member == root;
  }
  DFCCL_HD bool usesRecv() const {
    if (collective == Collective::sendRecv) return member != root;
    return (collective != Collective::reduce && collective != Collective::gather) || member == root;
  }
  /// Whether a member gets its own data too.
  DFCCL_HD bool copiesOwn() const {
    switch (collective) {
      case Collective::allGather:
      case Collective::allToAll:
        return true;
      case Collective::broadcast:
      case Collective::gather:
      case Collective::scatter:
        return member == root;
      default:
        return false;
    }
  }
  /// The segment of the send buffer that a member is sent, and that of the receive buffer where its data go.
  DFCCL_HD uint32_t segmentTo(uint32_t to) const {
    return collective == Collective::allToAll || collective == Collective::reduceScatter ||
                   collective == Collective::scatter
               ? to
               : 0;
  }
  DFCCL_HD uint32_t segmentFrom(uint32_t from) const {
    return collective == Collective::allGather || collective == Collective::allToAll || collective == Collective::gather
               ? from
               : 0;
  }

  /// Elements of a lane.
  DFCCL_HD uint64_t elementsOf(uint32_t lane) const {
    const uint64_t begin = lane * layout.laneElements;
    if (begin >= count) return 0;
    return count - begin < layout.laneElements ? count - begin : layout.laneElements;
  }
  /// Tiles of a lane. Where nothing is to be moved the members meet all the same, once.
  DFCCL_HD uint32_t tilesOf(uint32_t lane) const {
    const uint64_t elements = elementsOf(lane);
    if (count == 0) return lane == 0;
    // As in nearly all of a small run: no wide division.
    if (elements <= layout.tileElements) return elements != 0;
    return static_cast<uint32_t>((elements + layout.tileElements - 1) / layout.tileElements);
  }
};

/// A tile of a run: what is moved at once.
struct CapturedTile {
  uint64_t position;    // of all tiles of this lane, of all runs: flags are made of it
  uint64_t byteOffset;  // within a segment
  uint64_t elements;
  uint64_t slotOffset;  // of member 0's slot, within a landing area

  DFCCL_HD CapturedTile(const CapturedRun& run, uint32_t lane, uint32_t tile, uint64_t runs) {
    const uint64_t begin = tile * run.layout.tileElements;
    const uint64_t inLane = run.elementsOf(lane);
    const uint64_t left = inLane < begin ? 0 : inLane - begin;
    position = runs * run.tilesOf(lane) + tile;
    byteOffset = (lane * run.layout.laneElements + begin) * sizeOf(run.type);
    elements = left < run.layout.tileElements ? left : run.layout.tileElements;
    const uint64_t slots = run.layout.isMessage ? 1 : run.members;
    slotOffset = position % 2 * slots * run.layout.memberStride() + uint64_t{lane} * run.layout.slotBytes;
  }
  DFCCL_HD uint64_t bytes(const CapturedRun& run) const { return elements * sizeOf(run.type); }
  DFCCL_HD const uint8_t* source(const CapturedRun& run, uint32_t to) const {
    return static_cast<const uint8_t*>(run.send) + run.segmentTo(to) * run.count * sizeOf(run.type) + byteOffset;
  }
  DFCCL_HD uint8_t* destination(const CapturedRun& run, uint32_t from) const {
    return static_cast<uint8_t*>(run.recv) + run.segmentFrom(from) * run.count * sizeOf(run.type) + byteOffset;
  }
  DFCCL_HD uint8_t* outgoing(const CapturedRun& run, const CapturedMembers& members, uint32_t to) const {
    return members.landings[to] + slotOffset + placeOf(run, run.member) * run.layout.memberStride();
  }
  DFCCL_HD const uint8_t* incoming(const CapturedRun& run, const CapturedMembers& members, uint32_t from) const {
    return members.landings[run.member] + slotOffset + placeOf(run, from) * run.layout.memberStride();
  }
  /// As an exchange. @pre run.isReduced()
  DFCCL_HD void describe(const CapturedRun& run, const CapturedMembers& members, bool isSent, Exchange& e) const {
    e.type = run.type;
    e.op = run.op;
    e.isSent = isSent;
    e.isSendOnly = 0;
    e.member = run.member;
    e.members = run.members;
    e.divisor = run.op == ReduceOp::avg ? run.members : 0;
    e.run = position;
    e.own = source(run, run.member);
    e.result = destination(run, run.member);
    e.count = elements;
    e.scales = members.scales;
    e.landings = members.landings;
    e.slotOffset = slotOffset;
    e.memberStride = run.layout.memberStride();
  }

 private:
  /// Of a sender's slot among those of a lane.
  DFCCL_HD static uint32_t placeOf(const CapturedRun& run, uint32_t from) { return run.layout.isMessage ? 0 : from; }
};

/// Runs in one stream: of different members, which are under way at once, and of each one after the other. They are the
/// kernel's parameters, which have 4 KB; fewer ones are copied sooner.
template <uint32_t kRuns>
struct CapturedRunsOf {
  uint32_t members;
  uint32_t lanesBefore[kRuns + 1];  // of the members before each, and of all
  uint8_t runsBefore[kRuns + 1];
  CapturedRun runs[kRuns];
};
inline constexpr uint32_t kFewCapturedRuns = 4, kMostCapturedRuns = 24;
static_assert(sizeof(CapturedRunsOf<kMostCapturedRuns>) <= 4096);

/// Launches the kernel once in each of its forms, on the current device: the first launch keeps all streams back until
/// the device is idle, and of two ranks that launch their first graphs at once one would wait for the other for ever.
cudaError_t prepareCapturedRuns(cudaStream_t stream);
/// Runs in a stream. Those of one member are together, in their order. @param count at most kMostCapturedRuns
cudaError_t launchCapturedRuns(const CapturedRun* runs, uint32_t count, cudaStream_t stream);
/// Adds it to a graph, behind other nodes.
cudaError_t addCapturedRun(cudaGraph_t graph, const cudaGraphNode_t* behind, size_t count, const CapturedRun& run,
                           cudaGraphNode_t* node);

}  // namespace dfccl::gpu
