#include "host/world/gpu_world.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "device/daemon_kernel.cuh"
#include "host/world/mapping_setting.hpp"
#include "world/collective_record.hpp"
#include "world/group.hpp"
#include "world/program_check.hpp"
#include "world/selection.hpp"

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
      if (error != cudaErrorPeerAccessAlreadyEnabled) check(error, "cudaDeviceEnablePeerAccess");
      cudaGetLastError();  // having been enabled before is no error
    }
  }
}

/// Each member's machine.
std::vector<uint32_t> onOneHost(const CollectiveSpec& spec) { return std::vector<uint32_t>(spec.ranks.size()); }

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

const BoundProgram* GpuWorld::upload(ArenaBlocks& blocks, const BoundProgram& program) {
  BoundProgram image = program;
  const auto put = [&]<class T>(Array<const T>& table) { table.items = blocks.put(table.data(), table.size()); };
  put(image.blocks);
  put(image.connections);
  put(image.steps);
  put(image.refs);
  put(image.dependencies);
  put(image.chunks);
  return blocks.put(&image, 1);
}

std::shared_ptr<GpuGroup> GpuWorld::groupFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest) {
  const auto make = [&] {
    std::vector<DeviceArena*> arenas;
    for (const uint32_t r : spec.ranks) arenas.push_back(&ranks_[r]->arena());
    return std::make_shared<GpuGroup>(spec, digest, std::move(arenas));
  };
  return groups_.groupFor(spec, member, digest, make);
}

/// @param lanes 0: as many as pay.
std::vector<uint8_t> GpuWorld::builtInProgram(const CollectiveSpec& spec, uint32_t member, uint32_t lanes) const {
  SelectionFacts facts;
  facts.backend = BackendKind::cuda;
  facts.collective = spec.collective;
  facts.bytes = spec.count * sizeOf(spec.type);
  facts.ranks = static_cast<uint32_t>(spec.ranks.size());
  facts.isCaptured = spec.signature.isCaptured;
  facts.mapsLate = isStaged(spec);
  facts.grid = options_.limits.grid;
  Selection selection = select(facts);
  if (lanes != 0 && selection.kind != ProgramKind::connected) selection.lanes = lanes;
  return buildSelected(selection, spec, member, onOneHost(spec));
}

/// A run must not wait until peers have mapped its buffers: that takes calls of CUDA's, and they may take until the
/// run is over (decision 24). Connectors lie in memory that was mapped when the ranks met.
bool GpuWorld::isStaged(const CollectiveSpec& spec) const {
  return namesWindows_ && !mayMapBuffers() && spec.program.empty() && !spec.signature.isCaptured;
}

std::vector<uint8_t> GpuWorld::stagedProgram(const CollectiveSpec& spec, uint32_t member) {
  return buildSelected(selectUntilMapped(spec.count * sizeOf(spec.type)), spec, member, onOneHost(spec));
}

uint32_t GpuWorld::registerCollective(uint32_t rank, const CollectiveSpec& spec, uint32_t lanes) {
  checkSpec(spec, rank, size());
  checkHasProgram(spec);
  refuseCountPerRun(spec, "on GPUs");
  if (spec.signature.isCaptured) CapturedMember::checkSpec(spec);
  checkHealth(rank);
  const std::lock_guard lock(mutex_);
  const uint32_t member = memberOf(spec, rank);
  const std::vector<uint8_t> bytes = spec.program.empty() ? builtInProgram(spec, member, lanes) : spec.program;
  std::shared_ptr<const BoundProgram> program = loadProgram(bytes, spec.type, spec.count, options_.tiles);
  checkProgram(*program, spec, member);
  std::shared_ptr<const BoundProgram> staged;
  if (isStaged(spec) && program->usesDirect()) {
    staged = loadProgram(stagedProgram(spec, member), spec.type, spec.count, options_.tiles);
    constexpr uint32_t kPlaces = kInPlace | kOutOfPlace;
    // What a program refuses must not depend on what others have mapped.
    if ((program->header.flags & kPlaces) != (staged->header.flags & kPlaces)) program = std::exchange(staged, nullptr);
  }
  GpuRank& mine = *ranks_[rank];
  CollectiveHead head{};
  head.place(*program, staged.get());
  const uint32_t blockCount = head.blockCount;
  if (tasksPerBlock_[rank] + tasksPerBlock(blockCount) > kSharedTasks) {
    throw Error(
        dfcclOutOfMemory,
        "Rank " + std::to_string(rank) + " holds as many program blocks as a block of its daemon has room for, " +
            std::to_string(kSharedTasks) + ".",
        "Unregister collectives that are done, or open the world with more blocks.", {{"rank", std::to_string(rank)}});
  }
  const IndexTable::Place place = mine.takePlace(blockCount);
  ArenaBlocks tables(mine.arena());
  std::shared_ptr<DeviceGroup> group;
  try {
    CollectiveRecord record = describedRecord(spec, place.index, member, place.firstTask);
    record.place(*program, staged.get());
    record.registration = place.registration;
    record.program = upload(tables, *program);
    record.staged = staged ? upload(tables, *staged) : nullptr;
    std::vector<TaskContext> contexts;
    for (uint32_t block = 0; block < blockCount; ++block) contexts.push_back({{}, place.index, block, blockCount, 0});
    DeviceArena& arena = mine.arena();
    arena.store(&mine.memory().contexts[place.firstTask], contexts.data(), contexts.size() * sizeof(TaskContext));
    group = comeBack(spec, member, record, mine.homeOf(place.index));
    if (group == nullptr) {
      group = enter(spec, member, program->header.digest,
                    std::make_unique<GpuMember>(arena, spec, member, program, staged, record, mine.homeOf(place.index),
                                                namesWindows_));
    }
  } catch (...) {
    mine.giveBack(place, 0);
    throw;
  }
  tasksPerBlock_[rank] += tasksPerBlock(blockCount);
  CollectiveSpec kept = spec;
  kept.program.clear();
  RunShape shape = runShapeOf(spec, member, program->header);
  shape.namesWindows = namesWindows_ && program->usesDirect() && !spec.signature.isCaptured;
  // A tile is sent before anything is received.
  shape.mayBeInPlace |= spec.signature.isCaptured && spec.collective == Collective::allToAll;
  shape.stagesUnmapped = staged != nullptr;
  table_[rank].emplace(place.index, Registered{group, std::move(tables), std::move(kept), member, shape, place});
  const uint64_t runs = group->runsAtLeaving(member);
  mine.queues().resetIssued(place.index, runs);
  mine.follow(place, runs);
  return place.index;
}

std::shared_ptr<DeviceGroup> GpuWorld::enter(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                             std::unique_ptr<GpuMember> own) {
  std::shared_ptr<GpuGroup> group = groupFor(spec, member, digest);
  group->join(member, std::move(own));
  return group;
}

std::shared_ptr<DeviceGroup> GpuWorld::comeBack(const CollectiveSpec& spec, uint32_t member,
                                                const CollectiveRecord& begun, const MemberHome& home) {
  const std::shared_ptr<GpuGroup> group = groups_.leftForNow(spec, member);
  if (group != nullptr) group->comeBack(member, begun, home);
  return group;
}

uint32_t GpuWorld::tasksPerBlock(uint32_t blockCount) const {
  return (blockCount + options_.limits.grid - 1) / options_.limits.grid;
}

}  // namespace dfccl::gpu
