#include "device/captured_run.cuh"

#include "device/captured_tiles.cuh"

namespace dfccl::gpu {
namespace {

/// How long a block that is not the first waits for peers: then the first one does, so whatever waits holds one
/// multiprocessor's room and no more. Much longer than the first one takes for all lanes, one after the other: else
/// ranks that come late for that reason would make their peers lose patience, and then come late themselves.
constexpr int64_t kPatienceCycles = 1'000'000, kPatienceCyclesOfTile = 20'000;

/// A block of the kernel. The first one leaves when all lanes are done, and does itself what the others left, or have
/// not begun because there was no room for them.
/// @tparam kLines CapturedRun::heldLines
template <int kLines>
class CapturedBlock {
 public:
  __device__ CapturedBlock(const CapturedRun& run, CapturedShared& shared)
      : run_(run), state_(*run.state), shared_(shared) {}

  __device__ void carryOut() {
    const uint32_t lane = blockIdx.x;
    // Whatever has to be looked up is on its way before anything is waited for.
    HeldTile<kLines> held(run_, lane);
    load(lane);
    if (threadIdx.x == 0) shared_.run = state_.exits.load(order::relaxed) >> run_.layout.laneBits;
    if (threadIdx.x == kCapturedWorkers - 64 && lane != 0) {
      shared_.found = state_.lanes[lane].word.fetchOr(CapturedLane::isTaken, order::relaxed);
    }
    if (threadIdx.x == kCapturedWorkers - 33) shared_.isEnded = state_.mustEnd.load(order::relaxed);
    __syncthreads();
    isEnded_ = shared_.isEnded != 0;
    begunAt_ = clock64();
    if (lane == 0 || shared_.found == CapturedLane::wordOf(shared_.run, CapturedLane::isFree)) {
      if (kLines == 0 || shared_.isKnown == 0 || isEnded_) {
        carryOut(lane);
      } else {
        carryOutHeld(lane, held);
      }
    } else if (threadIdx.x == 0 && CapturedLane::isDone(shared_.found, shared_.run)) {
      // The first block has done it already, so what is taken here is the next run's.
      state_.lanes[lane].word.store(CapturedLane::wordOf(shared_.run + 1, CapturedLane::isFree), order::relaxed);
    }
    if (lane == 0 && run_.layout.laneBits != 0) takeOver();
    if (lane == 0 && isEnded_ && threadIdx.x == 0) run_.notes->ended.fetchAdd(1, order::relaxed);
    if (threadIdx.x == 0) state_.exits.fetchAdd(1, order::relaxed);
  }

 private:
  __device__ bool isFirst() const { return blockIdx.x == 0; }

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
    held.send(shared_.run, shared_.members);
    while (!held.receive()) {
      if (!mustStop()) continue;
      if (!isFirst()) return leave(lane, 0, true);
      isEnded_ = true;
      break;
    }
    if (!isEnded_) held.reduce(shared_.members);
    done(lane);
  }

  __device__ __noinline__ void carryOut(uint32_t lane, uint32_t firstTile = 0, bool isSent = false) {
    if (shared_.isKnown == 0 && !isEnded_ && !learn(lane)) return leave(lane, 0, false);
    const uint32_t tiles = run_.tilesOf(lane);
    for (uint32_t tile = firstTile; tile < tiles && !isEnded_; ++tile) {
      const CapturedTile here(run_, lane, tile, shared_.run);
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
    done(lane);
  }

  /// Relaxed: nobody reads what was written for it before this kernel is over.
  __device__ void done(uint32_t lane) {
    if (run_.layout.laneBits == 0) return;
    __syncthreads();
    if (threadIdx.x == 0) {
      state_.lanes[lane].word.store(CapturedLane::wordOf(shared_.run + 1, CapturedLane::isFree), order::relaxed);
    }
  }

  /// The first run waits until all members have registered. @return false: not for longer.
  __device__ __noinline__ bool learn(uint32_t lane) {
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
      state_.lanes[lane].word.store(CapturedLane::wordOf(shared_.run, CapturedLane::isLeft), order::release);
    }
  }

  /// The first block, when its own lane is done. Nobody else takes what was left, and what nobody has begun only the
  /// lane's own block.
  __device__ __noinline__ void takeOver() {
    const uint32_t lane = threadIdx.x;
    const bool hasLane = lane != 0 && lane < run_.layout.lanes;
    for (;;) {
      const uint64_t word = hasLane ? state_.lanes[lane].word.load(order::relaxed) : 0;
      const bool isDone = !hasLane || CapturedLane::isDone(word, shared_.run);
      if (isUnanimous(isDone)) return;
      const bool isUnclaimed = !isDone && (word & CapturedLane::isTaken) == 0;
      if (isUnanimous(!isUnclaimed)) continue;
      // One at a time: the others' turns come with the next looks.
      if (threadIdx.x == 0) shared_.tile = kMostCapturedLanes;
      __syncthreads();
      if (isUnclaimed) atomicMin(&shared_.tile, lane);
      __syncthreads();
      const uint32_t next = shared_.tile;
      __syncthreads();
      doInPlaceOfOwner(next);
    }
  }

  __device__ void doInPlaceOfOwner(uint32_t lane) {
    if (threadIdx.x == 0) {
      shared_.found = state_.lanes[lane].word.fetchOr(CapturedLane::isTaken, order::acquire);
      shared_.tile = state_.lanes[lane].tile;
    }
    __syncthreads();
    const uint64_t found = shared_.found;
    const uint32_t left = (found & CapturedLane::isLeft) != 0 ? shared_.tile : 0;
    __syncthreads();
    // Its owner has come after all.
    if (CapturedLane::isDone(found, shared_.run) || (found & CapturedLane::isTaken) != 0) return;
    load(lane);
    __syncthreads();
    carryOut(lane, left >> 1, (left & 1) != 0);
  }

  const CapturedRun& run_;
  CapturedState& state_;
  CapturedShared& shared_;
  int64_t begunAt_ = 0;
  uint32_t looks_ = 0;
  bool isEnded_ = false;  // the same for all threads
};

template <int kLines>
__global__ void __launch_bounds__(kCapturedWorkers) capturedKernel(const __grid_constant__ CapturedRun run) {
  __shared__ CapturedShared shared;
  if (run.state == nullptr) return;  // see prepareCapturedRuns()
  CapturedBlock<kLines>(run, shared).carryOut();
}

const void* kernelOf(uint32_t heldLines) {
  switch (heldLines) {
    case 1:
      return reinterpret_cast<const void*>(capturedKernel<1>);
    case 2:
      return reinterpret_cast<const void*>(capturedKernel<2>);
    case 4:
      return reinterpret_cast<const void*>(capturedKernel<4>);
    default:
      return reinterpret_cast<const void*>(capturedKernel<0>);
  }
}

}  // namespace

cudaError_t prepareCapturedRuns(cudaStream_t stream) {
  for (const uint32_t heldLines : {0, 1, 2, 4}) {
    CapturedRun nothing{};
    void* arguments[] = {&nothing};
    const cudaError_t error =
        cudaLaunchKernel(kernelOf(heldLines), dim3(1), dim3(kCapturedWorkers), arguments, 0, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t addCapturedRun(cudaGraph_t graph, const cudaGraphNode_t* behind, size_t count, const CapturedRun& run,
                           cudaGraphNode_t* node) {
  void* arguments[] = {const_cast<CapturedRun*>(&run)};
  cudaKernelNodeParams parameters{};
  parameters.func = const_cast<void*>(kernelOf(run.heldLines));
  parameters.gridDim = dim3(run.layout.lanes);
  parameters.blockDim = dim3(kCapturedWorkers);
  parameters.kernelParams = arguments;
  return cudaGraphAddKernelNode(node, graph, behind, count, &parameters);
}

}  // namespace dfccl::gpu
