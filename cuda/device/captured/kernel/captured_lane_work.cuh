#pragma once
// What a block does at a lane of a captured run: it carries the lane out, by lines or directly, is done with it, or
// leaves it when it has waited for too long.
#include "device/captured/kernel/captured_tiles.cuh"
#include "device/captured/kernel/direct_workers.cuh"
#include "device/captured/kernel/eager_tile.cuh"
#include "device/captured/kernel/reduction_tile.cuh"

namespace dfccl::gpu {

/// How long a block that is not the first waits for peers: then the first one does, so whatever waits holds one
/// multiprocessor's room and no more. Much longer than the first one takes for all lanes, one after the other: else
/// ranks that come late for that reason would make their peers lose patience, and then come late themselves.
inline constexpr int64_t kPatienceCycles = 1'000'000, kPatienceCyclesOfTile = 20'000;
/// And how long the first one waits for peers at a lane that it does in place of another block: then it looks at the
/// next such lane, for peers' first blocks may be at that one, and wait there for this one. Of another length for each
/// member, or they would go round behind each other.
inline constexpr int64_t kTurnCycles = 50'000, kTurnCyclesOfMember = 15'000;
/// How long a run that ends waits for peers who have claimed its buffers, in all of its lanes.
inline constexpr int64_t kLongestMoveCycles = 2'000'000'000;
/// Runs of a lane that may be under way beside the one in which the lane learns of the members.
inline constexpr uint32_t kFirstRuns = 16;

/// By which a run goes that needs no questions. @tparam kForm CapturedForm
template <int32_t kForm, int32_t kKind = CapturedForm::kindOf(kForm)>
struct QuickTile {
  using Type = HeldTile<CapturedForm::linesOf(kForm)>;
  static constexpr bool kIsThere = kForm > 0;
};
template <int32_t kForm>
struct QuickTile<kForm, CapturedForm::message> {
  using Type = EagerTile<CapturedForm::linesOf(kForm)>;
  static constexpr bool kIsThere = true;
};
template <int32_t kForm>
struct QuickTile<kForm, CapturedForm::copies> {
  using Type = CopyTile<CapturedForm::linesOf(kForm)>;
  static constexpr bool kIsThere = true;
};
template <int32_t kForm>
struct QuickTile<kForm, CapturedForm::reduction> {
  using Type = ReductionTile<CapturedForm::linesOf(kForm)>;
  static constexpr bool kIsThere = true;
};
template <int32_t kForm>
struct QuickTile<kForm, CapturedForm::wideSum> {
  using Type = HeldTile<CapturedForm::linesOf(kForm), kMostHeldMembers>;
  static constexpr bool kIsThere = true;
};
template <int32_t kForm>
struct QuickTile<kForm, CapturedForm::wideReduction> {
  using Type = ReductionTile<CapturedForm::linesOf(kForm), kMostHeldMembers>;
  static constexpr bool kIsThere = true;
};

/// Of any block at any lane. The first block of a run does those that others have left, too.
/// @tparam kForm CapturedForm. @tparam kInStream the run is a kernel in its stream, and in no graph: it tells when it
/// is over
template <int32_t kForm, bool kInStream>
class CapturedLaneWork {
 protected:
  using Quick = typename QuickTile<kForm>::Type;
  enum class Stop : uint32_t { goOn, leave, end };
  enum class Way { byTiles, left, over };

  __device__ CapturedLaneWork(const CapturedRun& run, CapturedShared& shared, bool isFirst)
      : run_(run), state_(*run.state), shared_(shared), isFirst_(isFirst) {}

  __device__ bool isAwaited() const { return kInStream && run_.isAwaited; }

  /// What a lane knows of the members, near. All reads are under way together.
  __device__ void load(uint32_t lane) {
    const CapturedLane& from = state_.lanes[lane];
    if (threadIdx.x < run_.members) {
      shared_.members.landings[threadIdx.x] = from.members.landings[threadIdx.x];
      shared_.members.scales[threadIdx.x] = from.members.scales[threadIdx.x];
      if (kForm == CapturedForm::large) shared_.members.windows[threadIdx.x] = from.members.windows[threadIdx.x];
    }
    if (threadIdx.x == kCapturedWorkers - 1) shared_.isKnown = *static_cast<const volatile uint32_t*>(&from.isKnown);
  }

  /// Does it, or leaves it to the first block, or to its next turn. @pre it is taken; here and below
  __device__ void carryOutQuickly(uint32_t lane, Quick& tile) {
    tile.send(number_, shared_.members);
    while (!tile.receive()) {
      const Stop stop = mustStop();
      if (stop == Stop::goOn) continue;
      if (stop == Stop::leave) return leave(lane, CapturedTurn::isFree, 0, true);
      isEnded_ = true;
      break;
    }
    if (!isEnded_) tile.reduce(shared_.members);
    done(lane, CapturedTurn::isFree);
  }

  /// A large run's, from its beginning on.
  __device__ void carryOutDirectly(uint32_t lane) {
    const Way way = goDirectly(lane, CapturedTurn::isFree, false, false);
    if (way == Way::byTiles) return carryOutTiles(lane, CapturedTurn::isFree, 0, false);
    if (way == Way::over) done(lane, CapturedTurn::isFree);
  }

  __device__ __noinline__ void carryOut(uint32_t lane, CapturedTurn::State state = CapturedTurn::isFree,
                                        uint32_t firstTile = 0, bool isSent = false) {
    const bool wasKnown = shared_.isKnown != 0;
    if (!wasKnown && !isEnded_ && !learn(lane)) return leave(lane, state, 0, false);
    if constexpr (kForm == CapturedForm::large) {
      if (firstTile == kMovedTile || (firstTile == 0 && !isSent)) {
        const Way way = goDirectly(lane, state, firstTile == kMovedTile, wasKnown && state == CapturedTurn::isLeft);
        if (way == Way::left) return;
        if (way == Way::over) return done(lane, state);
      }
    }
    carryOutTiles(lane, state, firstTile, isSent);
  }

  __device__ __noinline__ void carryOutTiles(uint32_t lane, CapturedTurn::State state, uint32_t firstTile,
                                             bool isSent) {
    const uint32_t tiles = run_.tilesOf(lane);
    for (uint32_t tile = firstTile; tile < tiles && !isEnded_; ++tile) {
      const CapturedTile here(run_, lane, tile, number_);
      TileMoves moves(run_, here, shared_);
      const MessageRoom room(run_, shared_.members, lane, number_);
      while (!(run_.layout.isMessage ? moves.carryOut(room, tile) : moves.carryOut(isSent))) {
        isSent = true;
        const Stop stop = mustStop();
        if (stop == Stop::goOn) continue;
        if (stop == Stop::leave) return leave(lane, state, tile, true);
        isEnded_ = true;
        break;
      }
      isSent = false;
      if (isInPlace_) begunAt_ = clock64();  // peers are at this lane, too
    }
    __syncthreads();
    done(lane, state);
  }

  /// In line: to call it, and what called it, took 4 us, for their instructions to arrive.
  /// @param hasMoved the data are moved: the others' `over` is missing. @param isPublished another block may have begun
  /// it
  __device__ __forceinline__ Way goDirectly(uint32_t lane, CapturedTurn::State state, bool hasMoved, bool isPublished) {
    const DirectWorkers workers(run_, shared_.members, lane, number_, shared_.direct);
    if (isEnded_) {
      if (isPublished) takeBack(workers);
      return Way::over;
    }
    if (!hasMoved) {
      workers.publish();
      for (bool isTakenBack = false;;) {
        const DirectLane::Come come = isTakenBack ? DirectLane::Come::notYet : workers.meet();
        if (come == DirectLane::Come::outOfReach) return Way::byTiles;
        if (come == DirectLane::Come::here && workers.claim()) break;
        isTakenBack |= come == DirectLane::Come::here;
        const Stop stop = mustStop();
        if (stop == Stop::leave) return leaveDirect(lane, state, 0, false);
        if (stop == Stop::end) return endDirect(workers);
      }
      workers.move();
    }
    while (!workers.areOver()) {
      const Stop stop = mustStop();
      if (stop == Stop::leave) return leaveDirect(lane, state, kMovedTile, true);
      if (stop == Stop::end) return endDirect(workers);
    }
    return Way::over;
  }

  __device__ Way leaveDirect(uint32_t lane, CapturedTurn::State state, uint32_t tile, bool isSent) {
    leave(lane, state, tile, isSent);
    return Way::left;
  }
  __device__ Way endDirect(const DirectWorkers& workers) {
    isEnded_ = true;
    takeBack(workers);
    return Way::over;
  }
  __device__ void takeBack(const DirectWorkers& workers) {
    if (deadline_ == 0) deadline_ = clock64() + kLongestMoveCycles;
    workers.takeBack(deadline_);
  }

  /// Relaxed: nobody reads what was written for it before this kernel is over, unless somebody waits to be told. A
  /// fence takes until the peers' memory has what was sent: of a run of five microseconds, one.
  /// @pre the others' parts were read
  __device__ void done(uint32_t lane, CapturedTurn::State state) {
    // The lane's own block may come yet, and go on to the next run.
    if (isAwaited() || (isInPlace_ && runsBehind_ != 0)) {
      __syncthreads();
      if (threadIdx.x == 0) __threadfence();
    }
    if (threadIdx.x == 0) state_.lanes[lane].word.fetchAdd(CapturedTurn::ending(number_, state), order::relaxed);
  }

  /// The first run waits until all members have registered. @return false: not for longer.
  __device__ __noinline__ bool learn(uint32_t lane) {
    if (threadIdx.x == 0) run_.notes->isBegun.store(1, order::relaxed);
    for (;;) {
      if (threadIdx.x == 0) shared_.isComplete = run_.notes->isComplete.load(order::acquire);
      __syncthreads();
      if (shared_.isComplete != 0) break;
      const Stop stop = mustStop();
      if (stop == Stop::goOn) continue;
      isEnded_ = stop == Stop::end;
      return isEnded_;
    }
    CapturedLane& to = state_.lanes[lane];
    if (threadIdx.x < run_.members) {
      to.members.landings[threadIdx.x] = shared_.members.landings[threadIdx.x] =
          *static_cast<uint8_t* volatile*>(&run_.notes->members.landings[threadIdx.x]);
      to.members.scales[threadIdx.x] = shared_.members.scales[threadIdx.x] =
          *static_cast<volatile double*>(&run_.notes->members.scales[threadIdx.x]);
      if (kForm == CapturedForm::large) {
        to.members.windows[threadIdx.x] = shared_.members.windows[threadIdx.x] =
            *static_cast<windows::Table volatile*>(&run_.notes->members.windows[threadIdx.x]);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) to.isKnown = 1;
    return true;
  }

  /// Whether it has waited in vain for too long: of the first block, at another one's lane. And whether the host wants
  /// the run to end, for which the first block looks.
  __device__ __noinline__ Stop mustStop() {
    constexpr uint32_t kLooksPerNote = 4;
    if (threadIdx.x == 0) {
      const bool mustEnd = isFirst_ && ++looks_ % kLooksPerNote == 0 && run_.notes->mustEnd.load(order::relaxed) != 0;
      const int64_t waited = clock64() - begunAt_;
      const bool mustLeave = isFirst_ ? waited > kTurnCycles + kTurnCyclesOfMember * run_.member
                                      : waited > kPatienceCycles && waited > patience();
      shared_.stop = static_cast<uint32_t>(mustEnd                                  ? Stop::end
                                           : mustLeave && (!isFirst_ || isInPlace_) ? Stop::leave
                                                                                    : Stop::goOn);
    }
    __syncthreads();
    const auto stop = static_cast<Stop>(shared_.stop);
    __syncthreads();
    return stop;
  }

  __device__ int64_t patience() const {
    return kPatienceCycles + kPatienceCyclesOfTile * run_.layout.lanes * run_.tilesOf(0);
  }

  /// @param state the lane's meanwhile, as for done()
  __device__ void leave(uint32_t lane, CapturedTurn::State state, uint32_t tile, bool isSent) {
    __syncthreads();
    if (!isFirst_) handOver(lane);
    if (threadIdx.x == 0) {
      state_.lanes[lane].tile = tile << 1 | isSent;
      state_.lanes[lane].word.fetchAdd(CapturedTurn::leaving(state), order::release);
    }
  }

  /// To the first block: the member's runs behind this one. By the lane's own block, which touches it no more but to
  /// leave this one.
  __device__ void handOver(uint32_t lane) {
    if (runsBehind_ != 0 && threadIdx.x == 0) {
      const uint64_t word = CapturedHandover::wordOf(run_.numberInStreams + 1, runsBehind_);
      state_.lanes[lane].handedOver.store(word, order::relaxed);
    }
    runsBehind_ = 0;
  }

  const CapturedRun& run_;
  CapturedState& state_;
  CapturedShared& shared_;
  const bool isFirst_;   // of the run's blocks: it waits at its own lane for as long as it takes
  uint32_t number_ = 0;  // of this run, over all that there ever were; the same for all threads
  int64_t begunAt_ = 0, deadline_ = 0;
  uint32_t looks_ = 0;
  uint32_t runsBehind_ = 0;  // of its kernel and member, that this block is to carry out
  bool isEnded_ = false;     // the same for all threads, and so is this:
  bool isInPlace_ = false;   // the first block does the others' lanes

 private:
  /// The tile at which a lane is left whose data has gone directly.
  static constexpr uint32_t kMovedTile = 0x7fffffff;
};

}  // namespace dfccl::gpu
