#include "host/world/gpu_world.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "device/daemon_kernel.cuh"
#include "host/world/mapping_setting.hpp"
#include "os/pause.hpp"
#include "os/tick_clock.hpp"

namespace dfccl::gpu {
namespace {

/// Lets every device of the world read and write every other's memory.
void connectDevices(const std::vector<int>& devices) {
  std::set<int> distinct(devices.begin(), devices.end());
  distinct.erase(GpuWorldOptions::kElsewhere);
  for (const int from : distinct) {
    const OnDevice here(from);
    for (const int to : distinct) {
      if (from == to) continue;
      int isPossible = 0;
      DFCCL_CUDA(cudaDeviceCanAccessPeer(&isPossible, from, to));
      if (!isPossible) {
        throw Error(dfcclSystemError,
                    "Device " + std::to_string(from) + " can't access the memory of device " + std::to_string(to) + ".",
                    "Use devices of one NVLink or PCIe domain; `nvidia-smi topo -p2p r` shows them.",
                    {{"from", std::to_string(from)}, {"to", std::to_string(to)}});
      }
      const cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
      if (error == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();  // nobody's error, but whatever the caller had before it is lost
      } else {
        check(error, "cudaDeviceEnablePeerAccess");
      }
    }
  }
}

bool isElsewhere(int device) { return device == GpuWorldOptions::kElsewhere; }

/// Of slots between processes: a collective of a framework's has some hundred kilobytes of them, and there are
/// hundreds.
constexpr size_t kConnectedSlotBytes = 32 << 10;

WorldOptions inCommon(const GpuWorldOptions& options) {
  WorldOptions o;
  o.ranks = static_cast<uint32_t>(options.devices.size());
  o.limits = options.rank.limits;
  o.policy = options.rank.policy;
  o.tiles = options.tiles;
  o.tiles.framedPayloadBytes = kStagingBytes;
  if (std::any_of(options.devices.begin(), options.devices.end(), isElsewhere) && !mayMapBuffers()) {
    o.tiles.slotPayloadBytes = std::min(o.tiles.slotPayloadBytes, kConnectedSlotBytes);
  }
  o.arenaBytes = options.rank.arenaBytes;
  o.backend = BackendKind::cuda;
  o.devices = options.devices;
  o.segment = options.segment;
  o.network = options.network;
  o.muteMillis = options.muteMillis;
  checkOptions(o);
  return o;
}

}  // namespace

GpuWorld::GpuWorld(const GpuWorldOptions& options)
    : Backend(inCommon(options)),
      gpuOptions_(options),
      namesWindows_(std::count(options.devices.begin(), options.devices.end(), GpuWorldOptions::kElsewhere) != 0),
      tasksPerBlock_(options.devices.size(), 0),
      table_(options.devices.size()),
      watcher_(bell_, ranks_) {
  if (options.rank.policy.streams != 0) {
    throw Error(dfcclInvalidArgument, "A GPU world has no in-order mode.",
                "Use a preemptive policy, or a CPU world to see the deadlock.", {{"field", "policy.streams"}});
  }
  connectDevices(options.devices);
  sleepers_ = &bell_.sleepers();
  for (uint32_t r = 0; r < options.devices.size(); ++r) {
    if (options.devices[r] == GpuWorldOptions::kElsewhere) {
      ranks_.push_back(nullptr);
      queues_.push_back(nullptr);
      copies_.push_back(nullptr);
      continue;
    }
    ranks_.push_back(std::make_unique<GpuRank>(r, options.devices[r], options.rank, bell_));
    queues_.push_back(&ranks_.back()->queues());
    copies_.push_back(std::make_unique<DeviceCopies>(options.devices[r]));
  }
  // A rank that is a process of its own tells its peers itself.
  if (!namesWindows_) watcher_.setLossHandler([this](uint32_t rank) { giveUpRunsOf(rank); });
  watcher_.start();
}

GpuWorld::~GpuWorld() { stop(); }

void GpuWorld::stop() {
  watcher_.stop();
  for (const auto& rank : ranks_) {
    if (rank) rank->stop();
  }
  freeAllocated();
}

void GpuWorld::checkHealth(uint32_t rank) {
  if (!isLocal(rank)) return;
  const GpuRank& mine = *ranks_[rank];
  if (!mine.isLost()) return;
  throw Error(dfcclSystemError,
              "Rank " + std::to_string(rank) + " on device " + std::to_string(mine.device()) +
                  " is lost: " + mine.lostBecause() + ".",
              "Close the world. Look for a buffer that was freed while a run of it was in flight.",
              {{"rank", std::to_string(rank)}, {"device", std::to_string(mine.device())}});
}

bool GpuWorld::synchronize(uint32_t rank, uint64_t timeoutMicros) {
  if (timeoutMicros != 0) {
    const uint64_t stay = residentStay(rank);
    const uint64_t begin = readTicks();
    const uint64_t limit = ticksOf(timeoutMicros);
    while (stay != 0 && !isStayOver(rank, stay)) {
      if (readTicks() - begin > limit) return false;
      cpuPause();
    }
  }
  const OnDevice here(deviceOf(rank));
  DFCCL_CUDA(cudaDeviceSynchronize());
  return true;
}

}  // namespace dfccl::gpu
