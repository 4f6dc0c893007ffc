// How a rank's daemon is launched: where there is none, or behind the one that is there.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "host/rank/barrier_probe.hpp"
#include "host/rank/gpu_rank.hpp"
#include "os/tick_clock.hpp"

namespace dfccl::gpu {
namespace {

// A launch takes 3 us, and where another thread keeps the driver to itself, much longer than this.
constexpr double kLateMicros = 200;

bool isLateSince(uint64_t began) {
  return readTicks() - began > static_cast<uint64_t>(kLateMicros * ticksPerMicrosecond());
}

}  // namespace

/// Or is launched and will be, behind the one before it.
bool GpuRank::isThere() const {
  // Before that: of two stays, the first one's end says nothing of the second.
  if (launchesAhead() != 0 && memory_->residency.exited.load(order::acquire) == 0) return true;
  return memory_->residency.isResident();
}

/// @param generation at least that one's table is what the daemon stays for.
GpuRank::Start GpuRank::launch(uint32_t generation) {
  const std::lock_guard lock(launching_);
  if (stopping_.load(order::seqCst) != 0) return Start::none;
  generation = std::max({generation, generation_.load(order::relaxed), waits_->generation()});
  const bool hasOne = isThere();
  if (hasOne && generation_.load(order::relaxed) == generation) return Start::none;
  letLoadsPass();
  if (!hasOne) {
    report_->leaving.store(0, order::seqCst);
    memory_->residency.enter();
  }
  arguments_.isSuccessor = hasOne;
  arguments_.awaitedTable = generation % DeviceAwaited::kTables;
  arguments_.stay = launches_.load(order::relaxed) + 1;
  generation_.store(generation, order::seqCst);
  launches_.store(launches_.load(order::relaxed) + 1, order::seqCst);
  memory_->residency.launches.store(launches_.load(order::relaxed), order::seqCst);
  waits_->noteLaunch();
  const uint64_t began = readTicks();
  const cudaError_t error = launchDaemon(arguments_, options_.limits.grid, stream_);
  const bool isLate = isLateSince(began);
  if (error == cudaSuccess) {
    launched_.store(launches_.load(order::relaxed), order::seqCst);
  } else {
    lose(std::string("CUDA refused to start its daemon: ") + cudaGetErrorString(error));
  }
  return isLate ? Start::late : Start::atOnce;
}

/// Whoever has waited for the driver while a module was loaded gets in before the kernel that needs it, and a daemon
/// that does so keeps all streams of the process waiting. So something else waits first.
void GpuRank::letLoadsPass() {
  constexpr int kMostTimes = 20;
  if (BarrierProbe::isLeftOut()) return;
  for (int time = 0; time < kMostTimes; ++time) {
    const uint64_t began = readTicks();
    if (cudaEventRecord(probe_, stream_) != cudaSuccess) return;  // the launch will say so too
    if (!isLateSince(began)) return;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

GpuRank::Start GpuRank::startIfOut() {
  if (isOver() || (isThere() && generation_.load(order::seqCst) == waits_->generation())) return Start::none;
  const OnDevice here(device());
  return launch(0);
}

GpuRank::Start GpuRank::startSuccessor(uint32_t generation) {
  if (isOver()) return Start::none;
  const OnDevice here(device());
  return launch(generation);
}

bool GpuRank::isOut() const {
  if (isOver()) return false;
  return !isThere() || generation_.load(order::seqCst) != waits_->generation() ||
         launched_.load(order::seqCst) != launches_.load(order::seqCst);
}

}  // namespace dfccl::gpu
