#pragma once
// A small message: a tile a lane, of which each worker holds its lines. Its sender is over when they are on their way.
#include "device/captured/message_room.cuh"
#include "device/exchange_lines.cuh"
#include "device/team_vote.cuh"

namespace dfccl::gpu {

/// Called as HeldTile is. @tparam kLines that a worker has at most
template <int kLines>
class EagerTile {
 public:
  /// Begins to read what is sent, before anything else is known of the run.
  __device__ EagerTile(const CapturedRun& run, uint32_t lane)
      : run_(run), lane_(lane), isSender_(run.member == run.root) {
    // It has few bytes, so 32 bits are enough.
    const uint32_t bytes = static_cast<uint32_t>(run.count) * sizeOf(run.type);
    const uint32_t full = static_cast<uint32_t>(run.layout.laneElements) * sizeOf(run.type);
    begin_ = lane * full;
    bytes_ = begin_ >= bytes ? 0 : bytes - begin_ < full ? bytes - begin_ : full;
    // Of an empty message there is a flag.
    lines_ = bytes == 0 ? 1 : (bytes_ + kLinePayload - 1) / kLinePayload;
#pragma unroll
    for (int h = 0; h < kLines; ++h) {
      if (isSender_ && isMine(h)) payload_[h] = loadPayload(source(), lineOf(h), bytes_);
    }
  }

  /// @param number of the run, over all of the lane's.
  __device__ void send(uint32_t number, const CapturedMembers& members) {
    number_ = number;
    members_ = &members;
    slot_ = members.landings[1 - run_.root] + (number % 2) * run_.layout.memberStride() + lane_ * run_.layout.slotBytes;
  }

  /// @return whether there was room for what is sent, or what is received is there: the same for all workers.
  __device__ bool receive() {
    constexpr int kLooks = 12;
    if (lines_ == 0) return true;
    bool isHere = false;
    for (int look = 0; look < kLooks && !isHere; ++look) {
      isHere = isSender_ ? threadIdx.x != 0 || room().isFreeFor(0, order::relaxed) : areHere();
    }
    if (!isUnanimous(isHere)) return false;
    if (isSender_) sendLines();
    return true;
  }

  __device__ void reduce(const CapturedMembers&) {
    if (isSender_ || lines_ == 0) return;
    // All workers hold their lines by now.
    if (threadIdx.x == 0) room().sayTaken(0, order::relaxed);
    uint8_t* const to = static_cast<uint8_t*>(run_.recv) + begin_;
#pragma unroll
    for (int h = 0; h < kLines; ++h) {
      if (isMine(h)) storePayload(to, lineOf(h), bytes_, payload_[h]);
    }
  }

 private:
  __device__ static uint32_t lineOf(int held) { return threadIdx.x + held * kCapturedWorkers; }
  __device__ bool isMine(int held) const { return lineOf(held) < lines_; }
  __device__ const uint8_t* source() const { return static_cast<const uint8_t*>(run_.send) + begin_; }
  __device__ MessageRoom room() const { return {run_, *members_, lane_, number_}; }

  __device__ void sendLines() {
#pragma unroll
    for (int h = 0; h < kLines; ++h) {
      if (isMine(h)) storeLine(slot_ + lineOf(h) * kLineBytes, payload_[h], Ll::flagOf(number_));
    }
  }

  __device__ bool areHere() {
    bool are = true;
#pragma unroll
    for (int h = 0; h < kLines; ++h) {
      if (isMine(h)) are &= loadLine(slot_ + lineOf(h) * kLineBytes, Ll::flagOf(number_), payload_[h]);
    }
    return are;
  }

  const CapturedRun& run_;
  const uint32_t lane_;
  const bool isSender_;
  uint32_t begin_, bytes_, lines_;
  uint32_t number_;
  const CapturedMembers* members_;
  uint8_t* slot_;
  uint64_t payload_[kLines];
};

}  // namespace dfccl::gpu
