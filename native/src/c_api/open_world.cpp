#include "c_api/open_world.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "c_api/last_error.hpp"
#include "world/gpu_backend.hpp"

namespace dfccl::c_api {

void OpenWorld::open(uint32_t rank) {
  const std::lock_guard lock(mutex_);
  if (rank >= backend_->size()) {
    refuseArgument(
        "Rank " + std::to_string(rank) + " is not in a world of " + std::to_string(backend_->size()) + " ranks.",
        "Allowed: 0 to " + std::to_string(backend_->size() - 1) +
            "; the default world's size is the environment variable DFCCL_RANKS.",
        {{"rank", std::to_string(rank)}});
  }
  if (!backend_->isLocal(rank)) {
    refuseArgument(
        "Rank " + std::to_string(rank) + " is another process's.",
        "Open rank " + std::to_string(backend_->options().segment->rank()) + ", which this process joined as.",
        {{"rank", std::to_string(rank)}});
  }
  if (isOpen_[rank]) {
    throw Error(dfcclInUse, "Rank " + std::to_string(rank) + " is open already.",
                "Use its context, or destroy that first.", {{"rank", std::to_string(rank)}});
  }
  isOpen_[rank] = true;
  backend_->reopen(rank);
}

void OpenWorld::close(uint32_t rank) {
  const std::lock_guard lock(mutex_);
  isOpen_[rank] = false;
}

uint32_t OpenWorld::openRanks() {
  const std::lock_guard lock(mutex_);
  uint32_t count = 0;
  for (const bool isOpen : isOpen_) count += isOpen ? 1 : 0;
  return count;
}

void* OpenWorld::allocate(uint32_t rank, size_t bytes) {
  void* const memory = backend_->allocate(rank, bytes);
  try {
    const std::lock_guard lock(mutex_);
    if (memory != nullptr) allocated_.emplace(memory, bytes);
  } catch (...) {
    backend_->free(rank, memory, bytes);
    throw;
  }
  return memory;
}

void OpenWorld::free(uint32_t rank, void* memory, size_t bytes) {
  // Taken out before it is free: another thread may be given the same address at once.
  std::map<void*, size_t>::node_type taken;
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocated_.find(memory);
    if (found == allocated_.end()) {
      refuseArgument("The memory was not made by dfcclAllocate, or is free already.",
                     "Pass what dfcclAllocate gave in this process for this world, once.");
    }
    if (found->second != bytes) {
      refuseArgument("The memory has " + std::to_string(found->second) + " bytes, not " + std::to_string(bytes) + ".",
                     "Pass as many as were given to dfcclAllocate.",
                     {{"bytes", std::to_string(bytes)}, {"allocated", std::to_string(found->second)}});
    }
    taken = allocated_.extract(found);
  }
  try {
    backend_->free(rank, memory, bytes);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    allocated_.insert(std::move(taken));
    throw;
  }
}

void OpenWorld::recordFlights(const std::string& prefix) { recorder_.emplace(backend_->options().segment, prefix); }

WorldTable& worlds() {
  static WorldTable table;
  return table;
}

namespace {

constexpr uint32_t kMostRanks = 1024;
// More than the config of any version: what says more was never set.
constexpr size_t kMostConfigBytes = 4096;

BackendKind chooseBackend(uint32_t wanted) {
  switch (wanted) {
    case dfcclCpu:
      return BackendKind::cpu;
    case dfcclCuda:
      return BackendKind::cuda;
    case dfcclAuto:
      return reportGpus().obstacle ? BackendKind::cpu : BackendKind::cuda;
  }
  refuseArgument("backend is " + std::to_string(wanted) + ".", "Allowed: dfcclCpu, dfcclCuda, dfcclAuto.",
                 {{"field", "backend"}});
}

}  // namespace

WorldOptions readConfig(const dfcclWorldConfig_t* config, Span span) {
  if (config == nullptr) refuseArgument("The config is null.", "Pass one that begins as DFCCL_WORLD_CONFIG_INIT.");
  constexpr size_t kKnown = sizeof(dfcclWorldConfig_t);
  const size_t size = config->structSize;
  if (size < offsetof(dfcclWorldConfig_t, workers) || size > kMostConfigBytes) {
    refuseArgument("The config's structSize is " + std::to_string(size) + ".", "Begin with DFCCL_WORLD_CONFIG_INIT.",
                   {{"field", "structSize"}});
  }
  // A newer caller's further fields may be ignored only where they ask for nothing.
  const auto* bytes = reinterpret_cast<const unsigned char*>(config);
  for (size_t at = kKnown; at < size; ++at) {
    if (bytes[at] != 0) {
      refuseArgument(std::string("The config has fields that this library, ") + dfcclVersion() + ", doesn't know.",
                     "Use a newer library, or leave them 0.", {{"field", "structSize"}});
    }
  }
  dfcclWorldConfig_t c{};
  std::memcpy(&c, config, size < kKnown ? size : kKnown);
  if (c.workers < DFCCL_NO_WORKERS) {
    refuseArgument("workers is " + std::to_string(c.workers) + ".", "Allowed: DFCCL_NO_WORKERS, or 0 to 256.",
                   {{"field", "workers"}});
  }
  const auto orDefault = [](uint32_t value, uint32_t byDefault) { return value == 0 ? byDefault : value; };
  WorldOptions o = defaultOptions(chooseBackend(c.backend), c.ranks, span);
  o.ranks = c.ranks;
  o.workers = c.workers == DFCCL_NO_WORKERS ? 0 : orDefault(static_cast<uint32_t>(c.workers), o.workers);
  o.limits.grid = orDefault(c.grid, o.limits.grid);
  o.limits.submissionSlots = orDefault(c.submissionSlots, o.limits.submissionSlots);
  o.limits.completionSlots = orDefault(c.completionSlots, o.limits.completionSlots);
  o.limits.collectives = orDefault(c.collectives, o.limits.collectives);
  o.limits.tasks = orDefault(c.programBlocks, defaultTasks(o.backend, o.limits.collectives));
  if (c.streams != 0) o.policy = inOrderPolicy(o.backend, c.streams);
  if (c.devices != nullptr && c.ranks <= kMostRanks) o.devices.assign(c.devices, c.devices + c.ranks);
  if (c.arenaBytes != 0) o.arenaBytes = c.arenaBytes;
  if (c.slotPayloadBytes != 0) o.tiles.slotPayloadBytes = c.slotPayloadBytes;
  return o;
}

namespace {

uint32_t fromEnvironment(const char* name, uint32_t byDefault, uint32_t least, uint32_t most) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return byDefault;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*end != '\0' || *text == '-' || value < least || value > most) {
    refuseArgument(std::string("The environment variable ") + name + " is \"" + text + "\".",
                   "Allowed: " + std::to_string(least) + " to " + std::to_string(most) + ".", {{"field", name}});
  }
  return static_cast<uint32_t>(value);
}

BackendKind backendFromEnvironment() {
  const char* text = std::getenv("DFCCL_BACKEND");
  const std::string name = text == nullptr || *text == '\0' ? "cpu" : text;
  if (name == "cpu") return chooseBackend(dfcclCpu);
  if (name == "cuda") return chooseBackend(dfcclCuda);
  if (name == "auto") return chooseBackend(dfcclAuto);
  refuseArgument("The environment variable DFCCL_BACKEND is \"" + name + "\".", "Allowed: cpu, cuda, auto.",
                 {{"field", "DFCCL_BACKEND"}});
}

}  // namespace

std::shared_ptr<OpenWorld> defaultWorld() {
  static std::mutex mutex;
  static std::weak_ptr<OpenWorld> open;
  const std::lock_guard lock(mutex);
  std::shared_ptr<OpenWorld> world = open.lock();
  if (!world) {
    const BackendKind backend = backendFromEnvironment();
    const bool isCpu = backend == BackendKind::cpu;
    const auto gpus = isCpu ? 0 : static_cast<uint32_t>(reportGpus().devices.size());
    const uint32_t ranks = fromEnvironment("DFCCL_RANKS", isCpu ? 64 : std::max(1u, gpus), 1, kMostRanks);
    WorldOptions o = defaultOptions(backend, ranks, Span::process);
    o.ranks = ranks;
    o.workers = fromEnvironment("DFCCL_WORKERS", o.workers, 0, 256);
    // Most of these ranks are never opened, and every one has memory of its own.
    o.limits.submissionSlots = o.limits.completionSlots = o.limits.collectives = 1024;
    o.limits.tasks = defaultTasks(backend, o.limits.collectives);
    open = world = std::make_shared<OpenWorld>(o);
  }
  return world;
}

}  // namespace dfccl::c_api
