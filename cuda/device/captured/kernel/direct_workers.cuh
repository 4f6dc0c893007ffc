#pragma once
// The workers of a block at a lane of a large run: a worker for each member, and all of them for the data.
#include "device/captured/direct_moves.cuh"
#include "device/move_any.cuh"
#include "device/team_vote.cuh"

namespace dfccl::gpu {

class DirectWorkers {
 public:
  __device__ DirectWorkers(const CapturedRun& run, const CapturedMembers& members, uint32_t lane, uint32_t number,
                           DirectShared& shared)
      : run_(run),
        members_(members),
        shared_(shared),
        lane_(run, members, lane, number),
        moves_(run, lane),
        isPeers_(threadIdx.x < run.members && threadIdx.x != run.member) {}

  __device__ void publish() const {
    if (isPeers_) lane_.publish(threadIdx.x);
  }

  /// Whether the others have published, and all buffers are within reach: here and below the same for all workers.
  __device__ DirectLane::Come meet() const {
    constexpr int kLooks = 12;
    auto come = DirectLane::Come::here;
    if (threadIdx.x < run_.members) {
      for (int look = 0; look < kLooks; ++look) {
        come = lane_.look(threadIdx.x, shared_.buffers[threadIdx.x]);
        if (come != DirectLane::Come::notYet) break;
      }
    }
    if (!isUnanimous(come != DirectLane::Come::notYet)) return DirectLane::Come::notYet;
    return isUnanimous(come == DirectLane::Come::here) ? DirectLane::Come::here : DirectLane::Come::outOfReach;
  }

  /// And describes the first move. @return false: one has taken its buffers back, so nobody's are touched.
  __device__ bool claim() const {
    if (isPeers_) {
      lane_.say(threadIdx.x, DirectLane::claimed, order::relaxed);
      fence();
    }
    // Meanwhile, by another warp.
    if (threadIdx.x == kDescriber) describe(0);
    const bool isMine = !isPeers_ || !lane_.isTakenBack(threadIdx.x, order::relaxed);
    if (isUnanimous(isMine)) return true;
    if (isPeers_) lane_.say(threadIdx.x, DirectLane::takenBack, order::relaxed);
    return false;
  }

  __device__ void move() const {
    for (uint32_t i = 0; i < moves_.count(); ++i) {
      if (i != 0) {
        __syncthreads();
        if (threadIdx.x == kDescriber) describe(i);
        __syncthreads();
      }
      const ReduceCopyArgs& args = shared_.operands.args;
      if (args.count == 0) continue;
      const bool isWhole = plain::isWhole(args, sizeOf(run_.type));
      if (isWhole && !run_.isReduction()) {
        copyPieces(args, args.count * sizeOf(run_.type) / sizeof(uint4));
      } else {
        movePlainOrAny(run_.type, run_.op, args, isWhole);
      }
    }
    __syncthreads();
    if (!isPeers_) return;
    __threadfence_system();
    lane_.say(threadIdx.x, DirectLane::over, order::relaxed);
  }

  __device__ bool areOver() const {
    constexpr int kLooks = 12;
    bool isOver = !isPeers_;
    for (int look = 0; look < kLooks && !isOver; ++look) {
      isOver = lane_.hasSaid(threadIdx.x, DirectLane::over, order::relaxed);
    }
    return isUnanimous(isOver);
  }

  /// The run ends without a result. @param deadline until when it waits for who has claimed its buffers: whoever is
  /// gone says nothing any more, and touches nothing
  __device__ void takeBack(int64_t deadline) const {
    if (isPeers_) {
      lane_.say(threadIdx.x, DirectLane::takenBack, order::relaxed);
      fence();
      while (lane_.hasSaid(threadIdx.x, DirectLane::claimed, order::relaxed) && clock64() < deadline) {
      }
    }
    __syncthreads();
  }

 private:
  static constexpr uint32_t kDescriber = kCapturedWorkers - 1;

  __device__ void describe(uint32_t move) const {
    if (move < moves_.count()) moves_.describe(move, shared_.buffers, members_.scales, shared_.operands);
  }

  /// Between this member's word and its look at the other's.
  __device__ static void fence() { asm volatile("fence.sc.sys;" ::: "memory"); }

  /// One source's to all destinations, as many at once as a worker holds: also where fewer are left.
  __device__ static void copyPieces(const ReduceCopyArgs& args, uint64_t pieces) {
    constexpr int kAtOnce = 8;
    const auto* const from = static_cast<const uint4*>(args.sources[0]);
#pragma unroll 1
    for (uint64_t first = threadIdx.x; first < pieces; first += uint64_t{kAtOnce} * kWorkers) {
      uint4 loaded[kAtOnce];
#pragma unroll
      for (int p = 0; p < kAtOnce; ++p) {
        if (first + p * kWorkers < pieces) loaded[p] = loadPiece(from + first + p * kWorkers);
      }
#pragma unroll 1
      for (int d = 0; d < args.destinationCount; ++d) {
        uint4* const to = static_cast<uint4*>(args.destinations[d]) + first;
#pragma unroll
        for (int p = 0; p < kAtOnce; ++p) {
          if (first + p * kWorkers < pieces) to[p * kWorkers] = loaded[p];
        }
      }
    }
  }

  const CapturedRun& run_;
  const CapturedMembers& members_;
  DirectShared& shared_;
  const DirectLane lane_;
  const DirectMoves moves_;
  const bool isPeers_;  // whether this worker is another member's
};

}  // namespace dfccl::gpu
