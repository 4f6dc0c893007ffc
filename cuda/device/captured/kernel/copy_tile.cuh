#pragma once
// A tile of a small collective that reduces nothing.
#include "device/captured/captured_run.cuh"
#include "device/exchange_lines.cuh"
#include "device/team_vote.cuh"

namespace dfccl::gpu {

/// What a worker has of a short tile: lines apart by the number of workers. In 32 bits, as all of the run has few
/// bytes.
/// @tparam kMost they are no more
template <int kMost>
class ShortLines {
 public:
  __device__ ShortLines(const CapturedRun& run, uint32_t lane) {
    segment = static_cast<uint32_t>(run.count) * sizeOf(run.type);
    const uint32_t full = static_cast<uint32_t>(run.layout.laneElements) * sizeOf(run.type);
    begin = lane * full;
    bytes = begin >= segment ? 0 : segment - begin < full ? segment - begin : full;
    count_ = (bytes + kLinePayload - 1) / kLinePayload;
  }

  __device__ static uint32_t at(int held) { return threadIdx.x + held * kCapturedWorkers; }
  __device__ bool has(int held) const { return at(held) < count_; }

  __device__ void load(const void* buffer, uint32_t segmentNumber, uint64_t (&payload)[kMost]) const {
    const uint8_t* const from = static_cast<const uint8_t*>(buffer) + segmentNumber * segment + begin;
#pragma unroll
    for (int h = 0; h < kMost; ++h) {
      if (has(h)) payload[h] = loadPayload(from, at(h), bytes);
    }
  }
  __device__ void store(void* buffer, uint32_t segmentNumber, const uint64_t (&payload)[kMost]) const {
    uint8_t* const to = static_cast<uint8_t*>(buffer) + segmentNumber * segment + begin;
#pragma unroll
    for (int h = 0; h < kMost; ++h) {
      if (has(h)) storePayload(to, at(h), bytes, payload[h]);
    }
  }
  __device__ void send(uint8_t* slot, uint32_t flag, const uint64_t (&payload)[kMost]) const {
#pragma unroll
    for (int h = 0; h < kMost; ++h) {
      if (has(h)) storeLine(slot + at(h) * kLineBytes, payload[h], flag);
    }
  }
  /// @return whether all of them are there.
  __device__ bool receive(const uint8_t* slot, uint32_t flag, uint64_t (&payload)[kMost]) const {
    bool are = true;
#pragma unroll
    for (int h = 0; h < kMost; ++h) {
      if (has(h)) are &= loadLine(slot + at(h) * kLineBytes, flag, payload[h]);
    }
    return are;
  }

  uint32_t segment, begin, bytes;  // of a segment of the buffers, and of the tile

 private:
  uint32_t count_;
};

/// Where the members' slots for a tile are.
class ShortSlots {
 public:
  __device__ ShortSlots(const CapturedRun& run, const CapturedMembers& members, uint32_t lane, uint32_t number)
      : members_(&members), stride_(run.layout.lanes * run.layout.slotBytes) {
    offset_ = (number % 2 != 0 ? run.members * stride_ : 0) + lane * run.layout.slotBytes;
  }
  __device__ uint8_t* of(uint32_t receiver, uint32_t sender) const {
    return members_->landings[receiver] + offset_ + sender * stride_;
  }

 private:
  const CapturedMembers* members_;
  uint32_t stride_, offset_;
};

/// Called as HeldTile is. @tparam kLines that a worker has at most
template <int kLines>
class CopyTile {
 public:
  __device__ CopyTile(const CapturedRun& run, uint32_t lane) : run_(run), lane_(lane), lines_(run, lane) {
    // Where all are sent the same, it is on its way before anything else is known of the run.
    if (run.segmentTo(1) == 0 && run.usesSend()) lines_.load(run.send, 0, payload_);
  }

  __device__ void send(uint32_t number, const CapturedMembers& members) {
    number_ = number;
    members_ = &members;
    const bool isSame = run_.segmentTo(1) == 0;
#pragma unroll 1
    for (uint32_t distance = 1; distance < run_.members; ++distance) {
      const uint32_t to =
          run_.member + distance < run_.members ? run_.member + distance : run_.member + distance - run_.members;
      if (run_.sends(run_.member, to) && lines_.bytes != 0) {
        if (!isSame) lines_.load(run_.send, to, payload_);
        lines_.send(slots().of(to, run_.member), flag(), payload_);
      } else if (threadIdx.x == 0 && run_.meet(run_.member, to)) {
        storeLine(slots().of(to, run_.member), 0, flag());
      }
    }
    if (run_.copiesOwn()) {
      if (!isSame) lines_.load(run_.send, run_.member, payload_);
      lines_.store(run_.recv, run_.segmentFrom(run_.member), payload_);
    }
    __syncthreads();  // in place, what is received lies where it was sent from
  }

  /// What has come may be put where it belongs before the rest is there: nobody reads that again.
  /// @return whether the others' parts are there: the same for all workers.
  __device__ bool receive() {
    bool areHere = true;
#pragma unroll 1
    for (uint32_t from = 0; from < run_.members; ++from) {
      if (from != run_.member) areHere &= isReceived(from);
    }
    return isUnanimous(areHere);
  }

  __device__ void reduce(const CapturedMembers&) {}

 private:
  __device__ ShortSlots slots() const { return {run_, *members_, lane_, number_}; }
  __device__ uint32_t flag() const { return Ll::flagOf(number_); }

  __device__ bool isReceived(uint32_t from) {
    constexpr int kLooks = 12;
    const uint8_t* const slot = slots().of(run_.member, from);
    const bool hasData = run_.sends(from, run_.member) && lines_.bytes != 0;
    if (!hasData && (threadIdx.x != 0 || !run_.meet(from, run_.member))) return true;
    bool isHere = false;
#pragma unroll 1
    for (int look = 0; look < kLooks && !isHere; ++look) {
      uint64_t nothing;
      isHere = hasData ? lines_.receive(slot, flag(), payload_) : loadLine(slot, flag(), nothing);
    }
    if (isHere && hasData) lines_.store(run_.recv, run_.segmentFrom(from), payload_);
    return isHere;
  }

  const CapturedRun& run_;
  const uint32_t lane_;
  const ShortLines<kLines> lines_;
  uint32_t number_;
  const CapturedMembers* members_;
  uint64_t payload_[kLines];
};

}  // namespace dfccl::gpu
