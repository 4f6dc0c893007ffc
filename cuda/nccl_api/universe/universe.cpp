#include "nccl_api/universe/universe.hpp"

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "host/driver/check.hpp"
#include "nccl_api/universe/failure.hpp"
#include "nccl_api/universe/scaling.hpp"

namespace dfccl::nccl {
namespace {

constexpr auto kPause = std::chrono::milliseconds(10);
constexpr int kAttempts = 500;  // then the process keeps it, 5 s being more than any abort has taken

std::string jobOf(uint64_t id) { return "nccl-" + std::to_string(id); }

/// Loads what scaling takes, before the first world of this process on the device: CUDA may wait for all that is on the
/// device when it does so.
void prepareDevice(int device) {
  static std::mutex mutex;
  static auto& prepared = *new std::set<int>;
  const std::lock_guard lock(mutex);
  if (!prepared.insert(device).second) return;
  const gpu::OnDevice here(device);
  cudaStream_t stream = nullptr;
  checkCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  // The first launch is behind a barrier; it scales nothing.
  const cudaError_t error = scaleOnStream(nullptr, nullptr, 0, Scalar{ncclInt8}, stream);
  cudaStreamDestroy(stream);
  checkCuda(error, "a kernel's launch");
}

}  // namespace

std::shared_ptr<Universe> Universe::inProcess(uint64_t id, const std::vector<int>& devices, uint32_t blocks) {
  std::shared_ptr<Universe> made(new Universe(id, static_cast<int>(devices.size()), -1));
  made->devices_ = devices;
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = static_cast<uint32_t>(devices.size());
  config.backend = dfcclCuda;
  config.devices = devices.data();
  config.grid = blocks;
  for (const int device : devices) prepareDevice(device);
  check(dfcclWorldCreate(&config, &made->world_));
  for (size_t r = 0; r < devices.size(); ++r) {
    check(dfcclInitRank(made->world_, static_cast<int>(r), &made->contexts_[r]));
  }
  return made;
}

std::shared_ptr<Universe> Universe::ofProcesses(uint64_t id, int ranks, int rank, int device, uint32_t blocks) {
  std::shared_ptr<Universe> made(new Universe(id, ranks, rank));
  made->devices_ = {device};
  const std::vector<int> devices(static_cast<size_t>(ranks), device);  // only one's own is looked at
  const std::string job = jobOf(id);
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.world.ranks = static_cast<uint32_t>(ranks);
  config.world.backend = dfcclCuda;
  config.world.devices = devices.data();
  config.world.grid = blocks;
  config.job = job.c_str();
  config.rank = rank;
  config.timeoutMillis = joinSeconds() * 1000;
  prepareDevice(device);
  check(dfcclJoinWorld(&config, &made->world_, nullptr));
  check(dfcclInitRank(made->world_, rank, &made->contexts_[static_cast<size_t>(rank)]));
  return made;
}

Universe::~Universe() {
  scratch_.clear(contexts_);
  for (const dfcclRankCtx_t context : contexts_) {
    // An aborted run's buffers may be in use by others for a moment yet.
    for (int i = 0; i < kAttempts && dfcclDestroy(context) == dfcclInUse; ++i) std::this_thread::sleep_for(kPause);
  }
  dfcclWorldDestroy(world_);
}

bool Universe::isAnyoneGone() const {
  if (ownRank_ < 0) return false;
  int gone = 0;
  return dfcclGetLostRanks(nullptr, 0, &gone, context(ownRank_)) != dfcclSuccess || gone != 0;
}

}  // namespace dfccl::nccl
