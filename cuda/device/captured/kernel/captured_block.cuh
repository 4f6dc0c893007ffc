#pragma once
// A block of the kernel that carries out a captured run: whose turn its lane is, and what becomes of lanes that blocks
// have left, or not begun.
#include "device/captured/kernel/captured_lane_work.cuh"

namespace dfccl::gpu {

/// Where a block is in a member's runs of its kernel; the same for all threads.
struct CapturedSequence {
  uint32_t left;        // of them, with the one that comes next
  bool isBegun;         // it has come to all of them with the first one
  uint32_t nextNumber;  // if it is begun
};

/// A block of the kernel. The first one leaves when all lanes are done, and does itself what the others left, or have
/// not begun because there was no room for them.
template <int32_t kForm, bool kInStream>
class CapturedBlock : CapturedLaneWork<kForm, kInStream> {
  using Work = CapturedLaneWork<kForm, kInStream>;

 public:
  __device__ CapturedBlock(const CapturedRun& run, uint32_t lane, CapturedShared& shared)
      : Work(run, shared, lane == 0), ownLane_(lane) {}

  /// @return whether it goes on to the member's next run.
  __device__ bool carryOut(CapturedSequence& sequence) {
    const uint32_t lane = ownLane_;
    isBegun_ = sequence.isBegun;
    runsBehind_ = sequence.left - 1;
    // Whatever has to be looked up is on its way before anything is waited for.
    typename Work::Quick quick(run_, lane);
    load(lane);
    if (threadIdx.x == 0 && !isBegun_) {
      shared_.word = state_.lanes[lane].word.fetchAdd(CapturedTurn::kArrival * sequence.left, order::relaxed);
    }
    if (threadIdx.x == 0 && isFirst_ && kInStream) {
      run_.notes->begunInStreams.store(run_.numberInStreams, order::relaxed);
    }
    if (threadIdx.x == kCapturedWorkers - 33) shared_.isEnded = state_.mustEnd.load(order::relaxed);
    __syncthreads();
    isEnded_ = shared_.isEnded != 0;
    const Turn turn = isBegun_ ? Turn::own : come(lane);
    if (isBegun_) number_ = sequence.nextNumber;
    begunAt_ = clock64();
    if (turn == Turn::ownAfterWait || (number_ < kFirstRuns && isBesideOthers())) knowAnew();
    if (turn == Turn::own || turn == Turn::ownAfterWait) {
      const bool isAsEver = shared_.isKnown != 0 && !isEnded_;
      if (QuickTile<kForm>::kIsThere && isAsEver) {
        Work::carryOutQuickly(lane, quick);
      } else if (kForm == CapturedForm::large && isAsEver) {
        Work::carryOutDirectly(lane);
      } else {
        Work::carryOut(lane);
      }
    }
    if (isFirst_) {
      if (run_.layout.lanes != 1) takeOver();
      if (kInStream) {
        tellOver();
      } else if (isEnded_ && threadIdx.x == 0) {
        run_.notes->ended.fetchAdd(1, order::relaxed);
      }
    }
    sequence = {runsBehind_, true, (number_ + 1) % CapturedTurn::kNumbers};
    return runsBehind_ != 0;
  }

 private:
  using Work::begunAt_;
  using Work::isAwaited;
  using Work::isEnded_;
  using Work::isFirst_;
  using Work::isInPlace_;
  using Work::load;
  using Work::number_;
  using Work::run_;
  using Work::runsBehind_;
  using Work::shared_;
  using Work::state_;

  /// As far as this thread knows.
  __device__ bool hasEnded() const { return isEnded_ || state_.mustEnd.load(order::relaxed) != 0; }

  enum class Turn { own, ownAfterWait, done, others };

  /// To the lane, as `shared_.word` has found it.
  __device__ Turn come(uint32_t lane) {
    const CapturedTurn found(shared_.word);
    number_ = found.arrivals();
    if (found.isTurnOf(number_)) {
      if (found.state() == CapturedTurn::isFree) return Turn::own;
      Work::handOver(lane);
      return Turn::others;
    }
    if (!found.isDone(number_) && awaitTurn(lane, found)) return Turn::ownAfterWait;
    // What the first block has done is there for the next run.
    if (runsBehind_ != 0) __threadfence();
    return Turn::done;
  }

  /// A run of another launch that is under way has the lane. Relaxed, and done() too: whoever reads what two launches
  /// of one graph come to reads it behind both.
  /// @return whether the turn came: else the first block has done the lane in this one's place.
  __device__ __noinline__ bool awaitTurn(uint32_t lane, CapturedTurn found) {
    while (!found.isDone(number_) && !found.isTurnOf(number_)) {
      __syncthreads();
      if (threadIdx.x == 0) shared_.word = state_.lanes[lane].word.load(order::relaxed);
      __syncthreads();
      found = CapturedTurn(shared_.word);
    }
    return !found.isDone(number_);
  }

  /// Whether kernels of runs before may not be over, though the runs are. To ask the host in each of the first runs
  /// takes 10 us of one of 32 KB, and 20 of 256 KB, and programs have many that they begin but a few times.
  __device__ bool isBesideOthers() const { return !kInStream || run_.isBehindStream; }

  /// What this block has read of the members may be half of what another launch's block has written meanwhile.
  __device__ void knowAnew() {
    __syncthreads();
    if (threadIdx.x == 0) shared_.isKnown = 0;
    __syncthreads();
  }

  /// To the host, and to streams that wait for it. What the other blocks have written is behind what was found of their
  /// lanes; none of them comes any more, so all that the run needs may go.
  __device__ __noinline__ void tellOver() {
    if (threadIdx.x != 0) return;
    // What has to end may have ended in other blocks only.
    const bool ended = hasEnded();
    if (ended && run_.notes->firstEndedInStreams.load(order::relaxed) == 0) {
      run_.notes->firstEndedInStreams.store(run_.numberInStreams, order::relaxed);
    }
    if (ended || isAwaited()) __threadfence_system();
    state_.overInStreams.store(static_cast<uint32_t>(run_.numberInStreams), order::relaxed);
    run_.notes->overInStreams.store(run_.numberInStreams, order::relaxed);
  }

  /// The first block, when its own lane is done. Nobody else takes what was left, and what nobody has begun only the
  /// lane's own block.
  __device__ __noinline__ void takeOver() {
    const uint32_t lane = threadIdx.x;
    const uint32_t lanes = run_.layout.lanes;
    const bool hasLane = lane != 0 && lane < lanes;
    isInPlace_ = true;
    for (uint32_t first = 0;;) {
      const CapturedTurn turn(hasLane ? state_.lanes[lane].word.load(order::relaxed) : 0);
      const bool isDone = !hasLane || (turn.isDone(number_) && (!kInStream || turn.hasCome(number_)));
      if (isUnanimous(isDone)) {
        if (isAwaited()) __threadfence();
        return;
      }
      const bool isAbandoned = !isDone && isAbandonedHere(lane, turn);
      if (isUnanimous(!isAbandoned)) continue;
      // One at a time: the others' turns come with the next looks, behind the last one's.
      if (threadIdx.x == 0) shared_.tile = kMostCapturedLanes;
      __syncthreads();
      if (isAbandoned) atomicMin(&shared_.tile, (lane + lanes - first) % lanes);
      __syncthreads();
      const uint32_t next = (shared_.tile + first) % lanes;
      __syncthreads();
      first = (next + 1) % lanes;
      doInPlaceOfOwner(next);
    }
  }

  __device__ bool isAbandonedHere(uint32_t lane, CapturedTurn turn) const {
    if (!turn.isTurnOf(number_)) return false;
    const bool isHandedOver =
        isBegun_ && CapturedHandover(state_.lanes[lane].handedOver.load(order::relaxed)).has(run_.numberInStreams);
    return turn.isAbandoned(number_, isHandedOver);
  }

  __device__ void doInPlaceOfOwner(uint32_t lane) {
    CapturedLane& here = state_.lanes[lane];
    if (threadIdx.x == 0) {
      uint64_t word = here.word.load(order::acquire);
      const bool isLeft = CapturedTurn(word).isTurnOf(number_) && CapturedTurn(word).state() == CapturedTurn::isLeft;
      // Unless its owner has come after all.
      shared_.isMine =
          isLeft || (isAbandonedHere(lane, CapturedTurn(word)) &&
                     here.word.compareExchange(word, CapturedTurn(word).taken(), order::relaxed, order::relaxed));
      shared_.word = isLeft;
      shared_.tile = here.tile;
    }
    __syncthreads();
    const bool isLeft = shared_.word != 0;
    const bool isMine = shared_.isMine != 0;
    const uint32_t left = isLeft ? shared_.tile : 0;
    __syncthreads();
    if (!isMine) return;
    load(lane);
    begunAt_ = clock64();
    __syncthreads();
    Work::carryOut(lane, isLeft ? CapturedTurn::isLeft : CapturedTurn::isTaken, left >> 1, (left & 1) != 0);
  }

  const uint32_t ownLane_;
  bool isBegun_ = false;  // as CapturedSequence has it
};

}  // namespace dfccl::gpu
