// Opens worlds on the simulated devices: as gpu_backend.cpp, without what only real ones can tell.
#include "host/joined_gpu_world.hpp"
#include "world/gpu_backend.hpp"

namespace dfccl {

GpuReport reportGpus() { return {}; }
void prepareGpu(const WorldOptions&, uint32_t) {}

std::unique_ptr<Backend> openGpuBackend(const WorldOptions& options) {
  gpu::GpuWorldOptions o;
  for (uint32_t r = 0; r < options.ranks; ++r) {
    const bool isElsewhere = options.segment && r != options.segment->rank();
    o.devices.push_back(isElsewhere ? gpu::GpuWorldOptions::kElsewhere : static_cast<int>(r % 4));
  }
  o.rank.limits = options.limits;
  o.rank.policy = options.policy;
  o.rank.arenaBytes = options.arenaBytes;
  o.tiles = options.tiles;
  if (!options.segment) return std::make_unique<gpu::GpuWorld>(o);
  o.segment = options.segment;
  o.muteMillis = options.muteMillis;
  return std::make_unique<gpu::JoinedGpuWorld>(o);
}

}  // namespace dfccl
