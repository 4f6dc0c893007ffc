#pragma once
// How the workers of a block move a tile of a run that a graph carries out: in general, and where it is an all-reduce
// of so few lines that each worker holds its own.
#include "device/captured/direct_moves.cuh"
#include "device/captured/message_room.cuh"
#include "device/exchange_any.cuh"

namespace dfccl::gpu {

static_assert(kCapturedWorkers == kWorkers);

/// What the threads of a block share.
struct CapturedShared {
  CapturedMembers members;
  DirectShared direct;
  Exchange exchange;
  uint64_t word;  // a lane's, as it was found
  uint32_t tile;
  uint32_t isMine;
  uint32_t
      isKnown;  // as the lane had it; what a look at the notes finds is another word, as others still read this one
  uint32_t isComplete;
  uint32_t isEnded;
  uint32_t stop;
};

/// The workers, each for its lines.
class TileMoves {
 public:
  __device__ TileMoves(const CapturedRun& run, const CapturedTile& tile, CapturedShared& shared)
      : run_(run), tile_(tile), shared_(shared), bytes_(tile.bytes(run)), flag_(Ll::flagOf(tile.position)) {}

  /// A message's tile.
  /// @param index within the run's lane. @return whether the sender had room, or the receiver has got it; the same for
  /// all workers.
  __device__ bool carryOut(const MessageRoom& room, uint32_t index) {
    if (!room.isSender()) {
      if (!isUnanimous(receive())) return false;
      if (threadIdx.x == 0) room.sayTaken(index, order::relaxed);
      return true;
    }
    if (!isUnanimous(threadIdx.x != 0 || hasRoom(room, index))) return false;
    send();
    return true;
  }

  /// Of another run.
  /// @param isSent this member's part is on its way. @return whether the others' were there: the same for all workers.
  __device__ bool carryOut(bool isSent) {
    if (run_.isReduced()) {
      const bool sendsToAll = run_.collective == Collective::allReduce;
      if (!sendsToAll && !isSent) send();
      __syncthreads();  // some may still be at the tile before
      if (threadIdx.x == 0) tile_.describe(run_, shared_.members, isSent || !sendsToAll, shared_.exchange);
      __syncthreads();
      return exchangePlainOrAny(shared_.exchange);
    }
    if (!isSent) {
      send();
      copyOwn();
      __syncthreads();  // in place, what is received lies where it was sent from
    }
    return isUnanimous(receive());
  }

 private:
  __device__ static bool hasRoom(const MessageRoom& room, uint32_t index) {
    constexpr int kLooks = 12;
    for (int look = 0; look < kLooks; ++look) {
      if (room.isFreeFor(index, order::relaxed)) return true;
    }
    return false;
  }

  __device__ void send() {
    for (uint32_t distance = 1; distance < run_.members; ++distance) {
      const uint32_t to = (run_.member + distance) % run_.members;
      uint8_t* const slot = tile_.outgoing(run_, shared_.members, to);
      if (run_.sends(run_.member, to) && bytes_ != 0) {
        sendLines(tile_.source(run_, to), slot);
      } else if (threadIdx.x == 0 && run_.meet(run_.member, to)) {
        storeLine(slot, 0, flag_);
      }
    }
  }

  __device__ void sendLines(const uint8_t* from, uint8_t* slot) {
    constexpr int kAtOnce = 4;
    const uint64_t lines = linesOf(bytes_);
    for (uint64_t first = threadIdx.x; first < lines; first += kAtOnce * kWorkers) {
      uint64_t payload[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (first + i * kWorkers < lines) payload[i] = loadPayload(from, first + i * kWorkers, bytes_);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (first + i * kWorkers < lines) storeLine(slot + (first + i * kWorkers) * kLineBytes, payload[i], flag_);
      }
    }
  }

  __device__ void copyOwn() {
    if (!run_.copiesOwn()) return;
    const uint8_t* const from = tile_.source(run_, run_.member);
    uint8_t* const to = tile_.destination(run_, run_.member);
    if (from == to) return;
    for (uint64_t line = threadIdx.x; line < linesOf(bytes_); line += kWorkers) {
      storePayload(to, line, bytes_, loadPayload(from, line, bytes_));
    }
  }

  /// What has come may be put where it belongs before the rest is there: nobody reads that again.
  __device__ bool receive() {
    bool isThere = true;
    for (uint32_t m = 0; m < run_.members; ++m) {
      if (m == run_.member) continue;
      const uint8_t* const slot = tile_.incoming(run_, shared_.members, m);
      if (run_.sends(m, run_.member) && bytes_ != 0) {
        isThere &= receiveLines(slot, tile_.destination(run_, m));
      } else if (threadIdx.x == 0 && run_.meet(m, run_.member)) {
        uint64_t nothing;
        isThere &= awaitLine(slot, nothing);
      }
    }
    return isThere;
  }

  __device__ bool awaitLine(const uint8_t* line, uint64_t& payload) {
    constexpr int kLooks = 12;
    for (int look = 0; look < kLooks; ++look) {
      if (loadLine(line, flag_, payload)) return true;
    }
    return false;
  }

  __device__ bool receiveLines(const uint8_t* slot, uint8_t* to) {
    constexpr int kAtOnce = 4;
    const uint64_t lines = linesOf(bytes_);
    for (uint64_t first = threadIdx.x; first < lines; first += kAtOnce * kWorkers) {
      uint64_t payload[kAtOnce];
      bool isHere[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const uint64_t line = first + i * kWorkers;
        isHere[i] = line >= lines || loadLine(slot + line * kLineBytes, flag_, payload[i]);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const uint64_t line = first + i * kWorkers;
        if (!isHere[i] && !awaitLine(slot + line * kLineBytes, payload[i])) return false;
        if (line < lines) storePayload(to, line, bytes_, payload[i]);
      }
    }
    return true;
  }

  const CapturedRun& run_;
  const CapturedTile& tile_;
  CapturedShared& shared_;
  const uint64_t bytes_;
  const uint32_t flag_;
};

/// A tile of an all-reduce, of whole lines, of which a worker holds its own from the first look to the reduction.
/// @pre the run has one tile a lane, and no more members
template <int kLines, int kMembers = kHeldMembers>
class HeldTile {
 public:
  /// Begins to read this member's part, before anything else is known of the run.
  __device__ HeldTile(const CapturedRun& run, uint32_t lane) : run_(run), lane_(lane) {
    // As few bytes as it has, 32 bits are enough: wider multiplications and divisions take their time.
    const uint32_t bytes = static_cast<uint32_t>(run.count) * sizeOf(run.type);
    const uint32_t full = static_cast<uint32_t>(run.layout.laneElements) * sizeOf(run.type);
    const uint32_t begin = lane * full;
    const uint32_t mine = begin >= bytes ? 0 : bytes - begin < full ? bytes - begin : full;
    lines_ = static_cast<int>(mine / kLinePayload) - static_cast<int>(threadIdx.x);
    offset_ = begin + threadIdx.x * static_cast<uint32_t>(kLinePayload);
#pragma unroll
    for (int h = 0; h < kLines; ++h) {
      if (isMine(h)) own_[h] = loadWholeLine(static_cast<const uint8_t*>(run.send) + offset_ + h * kApart);
    }
  }

  __device__ void send(uint64_t run, const CapturedMembers& members) {
    flag_ = Ll::flagOf(run);
    const uint32_t stride = run_.layout.lanes * run_.layout.slotBytes;
    const uint32_t half = run % 2 != 0 ? run_.members * stride : 0;
    const uint32_t line = half + lane_ * run_.layout.slotBytes + threadIdx.x * kLineBytes;
#pragma unroll
    for (int m = 0; m < kMembers; ++m) {
      if (m >= static_cast<int>(run_.members)) break;
      if (m == static_cast<int>(run_.member)) continue;
      uint8_t* const to = members.landings[m] + line + run_.member * stride;
#pragma unroll
      for (int h = 0; h < kLines; ++h) {
        if (isMine(h)) storeLine(to + h * kWorkers * kLineBytes, own_[h], flag_);
      }
    }
    from_ = members.landings[run_.member] + line;
  }

  /// @return whether the others' parts are there: the same for all workers.
  __device__ bool receive() {
    constexpr int kLooks = 12;
    const uint32_t stride = run_.layout.lanes * run_.layout.slotBytes;
    bool isThere = false;
#pragma unroll 1
    for (int look = 0; look < kLooks && !isThere; ++look) {
      isThere = true;
#pragma unroll
      for (int m = 0; m < kMembers; ++m) {
        if (m >= static_cast<int>(run_.members)) break;
#pragma unroll
        for (int h = 0; h < kLines; ++h) {
          parts_[h][m] = own_[h];
          if (m == static_cast<int>(run_.member) || !isMine(h)) continue;
          isThere &= loadLine(from_ + m * stride + h * kWorkers * kLineBytes, flag_, parts_[h][m]);
        }
      }
    }
    return isUnanimous(isThere);
  }

  __device__ void reduce(const CapturedMembers& members) {
    auto* const to = static_cast<uint8_t*>(run_.recv) + offset_;
    const bool isFloatSum = run_.type == DataType::float32 && run_.op == ReduceOp::sum;
    Exchange e;
    if (!isFloatSum) {
      e.type = run_.type;
      e.op = run_.op;
      e.members = run_.members;
      e.divisor = run_.op == ReduceOp::avg ? run_.members : 0;
      e.scales = members.scales;
    }
#pragma unroll
    for (int h = 0; h < kLines; ++h) {
      if (!isMine(h)) break;
      const auto& p = parts_[h];
      *reinterpret_cast<uint64_t*>(to + h * kApart) =
          isFloatSum ? detail::sumOfFloats(p, run_.members) : detail::foldAnyLine(e, p);
    }
  }

 private:
  static constexpr uint64_t kApart = kWorkers * kLinePayload;
  __device__ bool isMine(int held) const { return held * static_cast<int>(kWorkers) < lines_; }

  const CapturedRun& run_;
  const uint32_t lane_;
  int lines_;  // from this worker's first on
  uint32_t offset_;
  uint32_t flag_;
  const uint8_t* from_;
  uint64_t own_[kLines == 0 ? 1 : kLines];
  uint64_t parts_[kLines == 0 ? 1 : kLines][kMembers];
};

/// Where nothing is held.
template <>
class HeldTile<0, kHeldMembers> {
 public:
  __device__ HeldTile(const CapturedRun&, uint32_t) {}
  __device__ void send(uint64_t, const CapturedMembers&) {}
  __device__ bool receive() { return true; }
  __device__ void reduce(const CapturedMembers&) {}
};

}  // namespace dfccl::gpu
