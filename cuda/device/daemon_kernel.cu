#include "device/daemon_kernel.cuh"

#include <new>

#include "device/block/block_tables.cuh"
#include "device/cuda_platform.cuh"
#include "device/staged_entries.cuh"

namespace dfccl::gpu {
namespace {

__device__ void copyToShared(void* to, const void* from, uint32_t bytes) {
  auto* words = static_cast<uint64_t*>(to);
  const auto* source = static_cast<const uint64_t*>(from);
  for (uint32_t i = threadIdx.x; i < bytes / 8; i += kBlockThreads) words[i] = source[i];
}

/// A stay that goes on for too long is a mistake of this program's: the block leaves as it is and says so. What it held
/// is lost, so the host gives the rank up.
__device__ void giveUp() {
  BlockShared& shared = blockShared();
  shared.memory.get().blocks[blockIdx.x].counters = shared.counters;
  DaemonGate& gate = *shared.launch.gate;
  gate.gaveUp.fetchAdd(1, order::relaxed);
  __threadfence_system();
  if (gate.blocksLeft.fetchAdd(1, order::acqRel) + 1 == shared.memory.get().limits.grid) {
    shared.memory.get().residency.exited.store(1, order::relaxed);
    shared.memory.get().residency.leave();
  }
}

/// In this order, which the host reads backwards: a stay that has begun is there, and doesn't leave yet.
__device__ void announceStay() {
  const LaunchArguments& launch = blockShared().launch;
  if (launch.isSuccessor != 0) {
    launch.report->leaving.store(0, order::relaxed);
    blockShared().memory.get().residency.enter();
  }
  __threadfence_system();
  launch.report->entered.store(launch.stay, order::relaxed);
}

__device__ bool isWatchdogDue(const CudaPlatform<>& platform, uint64_t startedAt, uint32_t& steps) {
  constexpr uint32_t kStepsPerLook = 256;
  if (++steps % kStepsPerLook != 0) return false;
  const LaunchArguments& launch = blockShared().launch;
  const uint64_t now = platform.now();
  if (now - startedAt <= launch.watchdogNanos) return false;
  const uint64_t stayedOnAt = launch.gate->stayedOnAt.load(order::relaxed);
  return now > stayedOnAt && now - stayedOnAt > launch.watchdogNanos;
}

__device__ void control() {
  BlockShared& shared = blockShared();
  RankMemory& memory = shared.memory.get();
  using Daemon = BlockDaemon<CudaPlatform<>>;
  static_assert(sizeof(Daemon) <= kDaemonBytes && sizeof(Leader<CudaPlatform<>>) <= kLeaderBytes);
  CudaPlatform<> platform;
  Daemon& daemon = *new (shared.daemon) Daemon(memory, blockIdx.x);
  const uint64_t startedAt = platform.now();
  CudaPlatform<>::mark(TracePoint::entered, startedAt);
  uint32_t steps = 0;
  if (blockIdx.x == 0) {
    Leader<CudaPlatform<>>& leader = *new (shared.leader) Leader<CudaPlatform<>>(memory);
    announceStay();
    leader.enter(startedAt);
    daemon.enter();
    uint32_t news = 0;
    while (daemon.isInside()) {
      if (daemon.queueLength() == 0) awaitNews(news);
      news = shared.staged.news.load(order::relaxed);
      const bool fetched = leader.fetch(platform, daemon);
      // The others wait for what has come in; there is only so much of it until something completes.
      const bool progressed = fetched && leader.hasMore() ? false : daemon.step(platform);
      leader.decide(platform, daemon, fetched, progressed);
      if (daemon.isInside() && isWatchdogDue(platform, startedAt, steps)) {
        giveUp();
        break;
      }
    }
  } else {
    daemon.enter();
    while (daemon.isInside()) {
      if (daemon.queueLength() == 0) awaitStaged();
      daemon.step(platform);
      if (daemon.isInside() && isWatchdogDue(platform, startedAt, steps)) {
        giveUp();
        break;
      }
    }
  }
  shared.staged.isOver.store(1, order::relaxed);
  dismissTeam();
}

__global__ void __launch_bounds__(kBlockThreads, 1) daemonKernel(const __grid_constant__ LaunchArguments launch) {
  // What the one before it held is lost.
  if (launch.isSuccessor != 0 && launch.memory->residency.exited.load(order::relaxed) != 0) return;
  BlockShared& shared = blockShared();
  copyToShared(&shared.memory, launch.memory, sizeof(RankMemory) / 8 * 8);
  copyToShared(&shared.counters, &launch.memory->blocks[blockIdx.x].counters, sizeof(BlockCounters));
  copyToShared(&shared.block, &launch.memory->blocks[blockIdx.x], sizeof(BlockMemory));
  if (threadIdx.x == kControlThread) {
    shared.launch = launch;
    shared.trace = {&launch.traces[blockIdx.x], static_cast<uint32_t>(launch.traces[blockIdx.x].count)};
    TraceRing* const pollers = &launch.traces[gridDim.x];
    shared.pollerTrace = {pollers, static_cast<uint32_t>(pollers->count)};
    shared.staging = launch.staging + uint64_t{blockIdx.x} * 2 * kStagingBytes;
    const uint64_t head = blockIdx.x == 0
                              ? launch.gate->head
                              : launch.memory->feed.cursors[feedReader(blockIdx.x)].position.load(order::relaxed);
    shared.staged.filled.store(head, order::relaxed);
    shared.staged.taken.store(head, order::relaxed);
    shared.staged.controlTail.store(launch.memory->control.head.load(order::relaxed), order::relaxed);
    shared.staged.completionsPosted.store(launch.memory->counters.completionsPosted.read(), order::relaxed);
    shared.staged.arrivals.store(0, order::relaxed);
    const PendingMemory::Header& pending = *launch.memory->pending.header;
    shared.staged.awaitedLines.store(pending.onLines == 0 ? 0 : pending.lineCount, order::relaxed);
    shared.staged.news.store(0, order::relaxed);
    shared.staged.isOver.store(0, order::relaxed);
    for (uint32_t& owner : shared.imageOwners) owner = kNobodysImage;
    // Until the polling warp has looked, no block is known to have tried its tasks.
    for (auto& facts : shared.staged.facts) facts.store(0, order::relaxed);
  }
  __syncthreads();
  loadTables();
  __syncthreads();
  if (threadIdx.x < kWorkers) {
    workInTeam();
  } else if (threadIdx.x == kControlThread) {
    control();
  } else if (threadIdx.x >= kFirstPoller) {
    blockIdx.x == 0 ? pollHostQueue() : pollFeed();
  }
}

}  // namespace

cudaError_t prepareDaemon() {
  cudaError_t error =
      cudaFuncSetAttribute(daemonKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(BlockShared));
  if (error != cudaSuccess) return error;
  // Measured: with more first-level cache, large collectives take 8% longer.
  error = cudaFuncSetAttribute(daemonKernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared);
  if (error != cudaSuccess) return error;
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, daemonKernel);
}

cudaError_t launchDaemon(const LaunchArguments& arguments, uint32_t grid, cudaStream_t stream) {
  void* all[] = {const_cast<LaunchArguments*>(&arguments)};
  // Not <<<>>>, which says only by cudaGetLastError() whether it went well: an earlier error is the caller's.
  return cudaLaunchKernel(reinterpret_cast<const void*>(daemonKernel), dim3(grid), dim3(kBlockThreads), all,
                          sizeof(BlockShared), stream);
}

}  // namespace dfccl::gpu
