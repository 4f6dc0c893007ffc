#pragma once
// A tile of a small reduction of few members, but for the all-reduce of whole lines, which is HeldTile's.
#include "device/captured/kernel/copy_tile.cuh"
#include "device/exchange_held.cuh"

namespace dfccl::gpu {

/// Called as HeldTile is. @tparam kLines that a worker has at most. @tparam kMembers that the run has at most
template <int kLines, int kMembers = kHeldMembers>
class ReductionTile {
 public:
  __device__ ReductionTile(const CapturedRun& run, uint32_t lane) : run_(run), lane_(lane), lines_(run, lane) {
    lines_.load(run.send, run.segmentTo(run.member), own_);
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
        sendPart(to, isSame);
      } else if (threadIdx.x == 0 && run_.meet(run_.member, to)) {
        storeLine(slots().of(to, run_.member), 0, flag());
      }
    }
  }

  /// @return whether the others' parts are there: the same for all workers.
  __device__ bool receive() {
    constexpr int kLooks = 12;
    bool areHere = false;
#pragma unroll 1
    for (int look = 0; look < kLooks && !areHere; ++look) {
      areHere = true;
#pragma unroll
      for (int m = 0; m < kMembers; ++m) {
        if (m >= static_cast<int>(run_.members)) break;
        areHere &= isReceived(m);
      }
    }
    return isUnanimous(areHere);
  }

  __device__ void reduce(const CapturedMembers& members) {
    if (!run_.isReduced()) return;
    Exchange e;
    e.type = run_.type;
    e.op = run_.op;
    e.members = run_.members;
    e.divisor = run_.op == ReduceOp::avg ? run_.members : 0;
    e.scales = members.scales;
    const bool isFloatSum = run_.type == DataType::float32 && run_.op == ReduceOp::sum;
    uint64_t sums[kLines];
#pragma unroll
    for (int h = 0; h < kLines; ++h) {
      if (!lines_.has(h)) break;
      uint64_t p[kMembers];
#pragma unroll
      for (int m = 0; m < kMembers; ++m) p[m] = parts_[m][h];
      sums[h] = isFloatSum ? detail::sumOfFloats(p, run_.members) : detail::foldAnyLine(e, p);
    }
    lines_.store(run_.recv, 0, sums);
  }

 private:
  __device__ ShortSlots slots() const { return {run_, *members_, lane_, number_}; }
  __device__ uint32_t flag() const { return Ll::flagOf(number_); }

  __device__ void sendPart(uint32_t to, bool isOwn) const {
    uint8_t* const slot = slots().of(to, run_.member);
    if (isOwn) return lines_.send(slot, flag(), own_);
    uint64_t theirs[kLines];
    lines_.load(run_.send, to, theirs);
    lines_.send(slot, flag(), theirs);
  }

  __device__ bool isReceived(int m) {
    const auto from = static_cast<uint32_t>(m);
    if (from == run_.member) {
#pragma unroll
      for (int h = 0; h < kLines; ++h) parts_[m][h] = own_[h];
      return true;
    }
    const uint8_t* const slot = slots().of(run_.member, from);
    if (run_.sends(from, run_.member) && lines_.bytes != 0) return lines_.receive(slot, flag(), parts_[m]);
    uint64_t nothing;
    return threadIdx.x != 0 || !run_.meet(from, run_.member) || loadLine(slot, flag(), nothing);
  }

  const CapturedRun& run_;
  const uint32_t lane_;
  const ShortLines<kLines> lines_;
  uint32_t number_;
  const CapturedMembers* members_;
  uint64_t own_[kLines];
  uint64_t parts_[kMembers][kLines];
};

}  // namespace dfccl::gpu
