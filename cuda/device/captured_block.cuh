#pragma once
// A block of the kernel that carries out a captured run: whose turn its lane is, the lane's tiles, and what becomes of
// lanes that blocks have left, or not begun.
#include "device/captured_tiles.cuh"

namespace dfccl::gpu {

/// How long a block that is not the first waits for peers: then the first one does, so whatever waits holds one
/// multiprocessor's room and no more. Much longer than the first one takes for all lanes, one after the other: else
/// ranks that come late for that reason would make their peers lose patience, and then come late themselves.
inline constexpr int64_t kPatienceCycles = 1'000'000, kPatienceCyclesOfTile = 20'000;
/// Runs of a lane that may be under way beside the one in which the lane learns of the members.
inline constexpr uint32_t kFirstRuns = 16;

/// A block of the kernel. The first one leaves when all lanes are done, and does itself what the others left, or have
/// not begun because there was no room for them.
/// @tparam kLines CapturedRun::heldLines. @tparam kInStream the run is a kernel in its stream, and in no graph: it
/// tells when it is over
template <int kLines, bool kInStream>
class CapturedBlock {
 public:
  __device__ CapturedBlock(const CapturedRun& run, uint32_t lane, CapturedShared& shared)
      : run_(run), state_(*run.state), shared_(shared), ownLane_(lane) {}

  __device__ void carryOut() {
    const uint32_t lane = ownLane_;
    // Whatever has to be looked up is on its way before anything is waited for.
    HeldTile<kLines> held(run_, lane);
    load(lane);
    if (threadIdx.x == 0) shared_.word = state_.lanes[lane].word.fetchAdd(CapturedTurn::kArrival, order::relaxed);
    if (threadIdx.x == 0 && isFirst() && kInStream) {
      run_.notes->begunInStreams.store(run_.numberInStreams, order::relaxed);
    }
    if (threadIdx.x == kCapturedWorkers - 33) shared_.isEnded = state_.mustEnd.load(order::relaxed);
    __syncthreads();
    const CapturedTurn found(shared_.word);
    number_ = found.arrivals();
    isEnded_ = shared_.isEnded != 0;
    const bool mustWait = !found.isTurnOf(number_) && !found.isDone(number_);
    const bool isMine = found.isTurnOf(number_) ? found.state() == CapturedTurn::isFree : awaitTurn(lane, found);
    begunAt_ = clock64();
    if (mustWait || number_ < kFirstRuns) knowAnew();
    if (isMine) {
      if (kLines == 0 || shared_.isKnown == 0 || isEnded_) {
        carryOut(lane);
      } else {
        carryOutHeld(lane, held);
      }
    }
    if (!isFirst()) return;
    if (run_.layout.lanes != 1) takeOver();
    if (kInStream) return tellOver();
    if (isEnded_ && threadIdx.x == 0) run_.notes->ended.fetchAdd(1, order::relaxed);
  }

 private:
  __device__ bool isFirst() const { return ownLane_ == 0; }
  __device__ bool isAwaited() const { return kInStream && run_.isAwaited; }
  /// As far as this thread knows.
  __device__ bool hasEnded() const { return isEnded_ || state_.mustEnd.load(order::relaxed) != 0; }

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

  /// What this block has read of the members may be half of what another launch's block has written meanwhile.
  __device__ void knowAnew() {
    __syncthreads();
    if (threadIdx.x == 0) shared_.isKnown = 0;
    __syncthreads();
  }

  /// What a lane knows of the members, near. All reads are under way together.
  __device__ void load(uint32_t lane) {
    const CapturedLane& from = state_.lanes[lane];
    if (threadIdx.x < run_.members) {
      shared_.members.landings[threadIdx.x] = from.members.landings[threadIdx.x];
      shared_.members.scales[threadIdx.x] = from.members.scales[threadIdx.x];
    }
    if (threadIdx.x == kCapturedWorkers - 1) shared_.isKnown = *static_cast<const volatile uint32_t*>(&from.isKnown);
  }

  /// Does it, or leaves it to the first block. @pre it is taken; here and below
  __device__ void carryOutHeld(uint32_t lane, HeldTile<kLines>& held) {
    held.send(number_, shared_.members);
    while (!held.receive()) {
      if (!mustStop()) continue;
      if (!isFirst()) return leave(lane, 0, true);
      isEnded_ = true;
      break;
    }
    if (!isEnded_) held.reduce(shared_.members);
    done(lane, CapturedTurn::isFree);
  }

  __device__ __noinline__ void carryOut(uint32_t lane, CapturedTurn::State state = CapturedTurn::isFree,
                                        uint32_t firstTile = 0, bool isSent = false) {
    if (shared_.isKnown == 0 && !isEnded_ && !learn(lane)) return leave(lane, 0, false);
    const uint32_t tiles = run_.tilesOf(lane);
    for (uint32_t tile = firstTile; tile < tiles && !isEnded_; ++tile) {
      const CapturedTile here(run_, lane, tile, number_);
      TileMoves moves(run_, here, shared_);
      while (!moves.carryOut(isSent)) {
        isSent = true;
        if (!mustStop()) continue;
        if (!isFirst()) return leave(lane, tile, true);
        isEnded_ = true;
        break;
      }
      isSent = false;
    }
    __syncthreads();
    done(lane, state);
  }

  /// Relaxed: nobody reads what was written for it before this kernel is over, unless somebody waits to be told. A
  /// fence takes until the peers' memory has what was sent: of a run of five microseconds, one.
  /// @pre the others' parts were read
  __device__ void done(uint32_t lane, CapturedTurn::State state) {
    if (isAwaited()) {
      __syncthreads();
      if (threadIdx.x == 0) __threadfence();
    }
    if (threadIdx.x == 0) state_.lanes[lane].word.fetchAdd(CapturedTurn::ending(number_, state), order::relaxed);
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

  /// The first run waits until all members have registered. @return false: not for longer.
  __device__ __noinline__ bool learn(uint32_t lane) {
    if (threadIdx.x == 0) run_.notes->isBegun.store(1, order::relaxed);
    for (;;) {
      if (threadIdx.x == 0) shared_.isComplete = run_.notes->isComplete.load(order::acquire);
      __syncthreads();
      if (shared_.isComplete != 0) break;
      if (!mustStop()) continue;
      isEnded_ = isFirst();
      return isFirst();
    }
    CapturedLane& to = state_.lanes[lane];
    if (threadIdx.x < run_.members) {
      to.members.landings[threadIdx.x] = shared_.members.landings[threadIdx.x] =
          *static_cast<uint8_t* volatile*>(&run_.notes->members.landings[threadIdx.x]);
      to.members.scales[threadIdx.x] = shared_.members.scales[threadIdx.x] =
          *static_cast<volatile double*>(&run_.notes->members.scales[threadIdx.x]);
    }
    __syncthreads();
    if (threadIdx.x == 0) to.isKnown = 1;
    return true;
  }

  /// Whether it has waited in vain for too long; of the first block, whether the host wants the run to end.
  __device__ __noinline__ bool mustStop() {
    constexpr uint32_t kLooksPerNote = 4;
    if (threadIdx.x == 0) {
      shared_.mustStop = isFirst() ? ++looks_ % kLooksPerNote == 0 && run_.notes->mustEnd.load(order::relaxed) != 0
                                   : clock64() - begunAt_ > patience();
    }
    __syncthreads();
    const bool mustStop = shared_.mustStop != 0;
    __syncthreads();
    return mustStop;
  }

  __device__ int64_t patience() const {
    return kPatienceCycles + kPatienceCyclesOfTile * run_.layout.lanes * run_.tilesOf(0);
  }

  __device__ void leave(uint32_t lane, uint32_t tile, bool isSent) {
    __syncthreads();
    if (threadIdx.x == 0) {
      state_.lanes[lane].tile = tile << 1 | isSent;
      state_.lanes[lane].word.fetchAdd(CapturedTurn::kLeaving, order::release);
    }
  }

  /// The first block, when its own lane is done. Nobody else takes what was left, and what nobody has begun only the
  /// lane's own block.
  __device__ __noinline__ void takeOver() {
    const uint32_t lane = threadIdx.x;
    const bool hasLane = lane != 0 && lane < run_.layout.lanes;
    for (;;) {
      const CapturedTurn turn(hasLane ? state_.lanes[lane].word.load(order::relaxed) : 0);
      const bool isDone = !hasLane || (turn.isDone(number_) && (!kInStream || turn.hasCome(number_)));
      if (isUnanimous(isDone)) {
        if (isAwaited()) __threadfence();
        return;
      }
      const bool isAbandoned = !isDone && turn.isTurnOf(number_) && turn.isAbandoned(number_);
      if (isUnanimous(!isAbandoned)) continue;
      // One at a time: the others' turns come with the next looks.
      if (threadIdx.x == 0) shared_.tile = kMostCapturedLanes;
      __syncthreads();
      if (isAbandoned) atomicMin(&shared_.tile, lane);
      __syncthreads();
      const uint32_t next = shared_.tile;
      __syncthreads();
      doInPlaceOfOwner(next);
    }
  }

  __device__ void doInPlaceOfOwner(uint32_t lane) {
    CapturedLane& here = state_.lanes[lane];
    if (threadIdx.x == 0) {
      uint64_t word = here.word.load(order::acquire);
      const bool isTurn = CapturedTurn(word).isTurnOf(number_);
      const bool isLeft = isTurn && CapturedTurn(word).state() == CapturedTurn::isLeft;
      // Unless its owner has come after all.
      shared_.isMine =
          isLeft || (isTurn && CapturedTurn(word).isAbandoned(number_) &&
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
    __syncthreads();
    carryOut(lane, isLeft ? CapturedTurn::isLeft : CapturedTurn::isTaken, left >> 1, (left & 1) != 0);
  }

  const CapturedRun& run_;
  CapturedState& state_;
  CapturedShared& shared_;
  const uint32_t ownLane_;
  uint32_t number_ = 0;  // of this run, over all that there ever were; the same for all threads
  int64_t begunAt_ = 0;
  uint32_t looks_ = 0;
  bool isEnded_ = false;  // the same for all threads
};

}  // namespace dfccl::gpu
