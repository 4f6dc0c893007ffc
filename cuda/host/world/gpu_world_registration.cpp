// How the ranks of a world on GPUs register collectives, and unregister them.
#include <algorithm>
#include <string>
#include <utility>

#include "host/world/gpu_world.hpp"
#include "host/world/mapping_setting.hpp"
#include "os/tick_clock.hpp"
#include "world/collective_name.hpp"
#include "world/collective_record.hpp"
#include "world/joint_registration.hpp"
#include "world/program_check.hpp"
#include "world/refusals.hpp"
#include "world/selection.hpp"

namespace dfccl::gpu {
namespace {

/// A daemon tells the host of a run before it posts how many there were: by less than this, where nobody stops it.
constexpr double kCountMicros = 200'000;

[[noreturn]] void refuseKernels(const CollectiveSpec& spec) {
  throw Error(dfcclUnavailable,
              "The ranks of " + nameOf(spec) +
                  " are on several machines, whose runs no kernel in a stream or graph "
                  "carries out, but the daemons.",
              "Run it outside of captures, in a group that dfcclGroupRunInStreams wasn't called for.",
              {{"id", spec.id.text()}});
}

}  // namespace

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

std::shared_ptr<GpuRegistration> GpuWorld::registrationFor(const CollectiveSpec& spec, uint32_t member,
                                                           uint64_t digest) {
  const auto make = [&] {
    std::vector<DeviceArena*> arenas;
    for (const uint32_t r : spec.ranks) arenas.push_back(&ranks_[r]->arena());
    return std::make_shared<GpuRegistration>(spec, digest, std::move(arenas));
  };
  return registrations_.registrationFor(spec, member, digest, make);
}

/// @param lanes 0: as many as pay.
std::vector<uint8_t> GpuWorld::builtInProgram(const CollectiveSpec& spec, uint32_t member, uint32_t lanes) const {
  SelectionFacts facts;
  facts.backend = BackendKind::cuda;
  facts.collective = spec.collective;
  facts.bytes = spec.count * sizeOf(spec.type);
  facts.ranks = static_cast<uint32_t>(spec.ranks.size());
  facts.isCaptured = spec.signature.isCaptured();
  facts.spansHosts = spansMachines(spec);
  facts.mapsLate = isStaged(spec);
  facts.grid = options_.limits.grid;
  Selection selection = select(facts);
  if (lanes != 0 && selection.kind != ProgramKind::connected) selection.lanes = lanes;
  return buildSelected(selection, spec, member, machinesOf(spec));
}

/// Each member's machine.
std::vector<uint32_t> GpuWorld::machinesOf(const CollectiveSpec& spec) const {
  std::vector<uint32_t> machines(spec.ranks.size());
  for (size_t m = 0; options_.network && m < machines.size(); ++m)
    machines[m] = options_.network->hostOf[spec.ranks[m]];
  return machines;
}

bool GpuWorld::spansMachines(const CollectiveSpec& spec) const {
  const std::vector<uint32_t> machines = machinesOf(spec);
  return std::ranges::any_of(machines, [&](uint32_t machine) { return machine != machines.front(); });
}

/// A run must not wait until peers have mapped its buffers: that takes calls of CUDA's, and they may take until the
/// run is over (decision 24). Connectors lie in memory that was mapped when the ranks met.
bool GpuWorld::isStaged(const CollectiveSpec& spec) const {
  return namesWindows_ && !mayMapBuffers() && spec.program.empty() && !spec.signature.isCaptured() &&
         !spansMachines(spec);
}

std::vector<uint8_t> GpuWorld::stagedProgram(const CollectiveSpec& spec, uint32_t member) {
  const std::vector<uint32_t> onOneHost(spec.ranks.size());
  return buildSelected(selectUntilMapped(spec.count * sizeOf(spec.type)), spec, member, onOneHost);
}

uint32_t GpuWorld::registerCollective(uint32_t rank, const CollectiveSpec& spec, uint32_t lanes) {
  checkSpec(spec, rank, size());
  if (isOwn(spec.op)) {
    throw Error(dfcclUnavailable, "An operator of your own is a function of the host's, and these ranks are on GPUs.",
                "Reduce on CPUs, or by one of the library's operators.", {{"op", nameOf(spec.op)}});
  }
  checkHasProgram(spec);
  refuseCountPerRun(spec, "on GPUs");
  const bool isCaptured = spec.signature.isCaptured();
  if (isCaptured) CapturedMember::checkSpec(spec);
  const bool isSpread = spansMachines(spec);
  if (isSpread && isCaptured) refuseKernels(spec);
  checkHealth(rank);
  std::unique_lock lock(mutex_);
  if (isCaptured) takeCapturedNotes(rank, lock);
  // Under the lock: who is lost from now on finds this one when its runs are given up.
  for (const uint32_t r : spec.ranks) checkHealth(r);
  ranks_[rank]->freeUnheld();
  const uint32_t member = memberOf(spec, rank);
  const std::vector<uint8_t> bytes = spec.program.empty() ? builtInProgram(spec, member, lanes) : spec.program;
  std::shared_ptr<const BoundProgram> program = loadProgram(bytes, spec.type, spec.count, options_.tiles);
  checkProgram(*program, spec, member);
  if (isSpread) checkIsConnected(*program, spec);
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
  // No daemon has a part of it.
  const uint32_t blockCount = isCaptured ? 0 : head.blockCount;
  if (tasksPerBlock_[rank] + tasksPerBlock(blockCount) > kSharedTasks) {
    throw Error(
        dfcclOutOfMemory,
        "Rank " + std::to_string(rank) + " holds as many program blocks as a block of its daemon has room for, " +
            std::to_string(kSharedTasks) + ".",
        "Unregister collectives that are done, or open the world with more blocks.", {{"rank", std::to_string(rank)}});
  }
  const IndexTable::Entry place = mine.takePlace(blockCount);
  ArenaBlocks tables(mine.arena());
  std::shared_ptr<DeviceRegistration> registration;
  try {
    CollectiveRecord record = describedRecord(spec, place.index, member, place.firstTask);
    record.place(*program, staged.get());
    record.registrationNumber = place.registrationNumber;
    DeviceArena& arena = mine.arena();
    if (!isCaptured) {
      record.program = upload(tables, *program);
      record.staged = staged ? upload(tables, *staged) : nullptr;
      std::vector<TaskContext> contexts;
      for (uint32_t block = 0; block < blockCount; ++block) contexts.push_back({{}, place.index, block, blockCount, 0});
      arena.store(&mine.memory().contexts[place.firstTask], contexts.data(), contexts.size() * sizeof(TaskContext));
    }
    registration = comeBack(spec, member, record, mine.homeOf(place.index));
    if (registration == nullptr) {
      registration =
          enter(spec, member, program->header.digest,
                std::make_unique<GpuMember>(arena, spec, member, program, staged, record, mine.homeOf(place.index),
                                            namesWindows_, isSpread ? remoteConnectorsOf(spec) : nullptr));
    }
  } catch (...) {
    mine.giveBack(place, 0);
    throw;
  }
  tasksPerBlock_[rank] += tasksPerBlock(blockCount);
  CollectiveSpec kept = spec;
  kept.program.clear();
  RunShape shape = runShapeOf(spec, member, program->header);
  shape.namesWindows = namesWindows_ && program->usesDirect() && !isCaptured;
  // A tile is sent before anything is received.
  shape.mayBeInPlace |= isCaptured && spec.collective == Collective::allToAll;
  shape.stagesUnmapped = staged != nullptr || isCaptured;
  if (isCaptured && spec.collective == Collective::sendRecv) {
    shape.messageBytes = CapturedMember::layoutOf(spec).landingBytes(1 - spec.root, 2, spec.root);
  }
  table_[rank].emplace(place.index, Registered{registration, std::move(tables), std::move(kept), member, shape, place});
  const uint64_t runs = registration->runsAtLeaving(member);
  mine.queues().resetIssued(place.index, runs);
  if (!isCaptured) mine.follow(place, runs);  // else the daemon counts none of them
  return place.index;
}

std::shared_ptr<DeviceRegistration> GpuWorld::enter(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                                    std::unique_ptr<GpuMember> own) {
  std::shared_ptr<GpuRegistration> registration = registrationFor(spec, member, digest);
  registration->join(member, std::move(own));
  return registration;
}

std::shared_ptr<DeviceRegistration> GpuWorld::comeBack(const CollectiveSpec& spec, uint32_t member,
                                                       const CollectiveRecord& begun, const MemberHome& home) {
  const std::shared_ptr<GpuRegistration> registration = registrations_.leftForNow(spec, member);
  if (registration != nullptr) registration->comeBack(member, begun, home);
  return registration;
}

uint32_t GpuWorld::tasksPerBlock(uint32_t blockCount) const {
  return (blockCount + options_.limits.grid - 1) / options_.limits.grid;
}

GpuWorld::Registered& GpuWorld::registered(uint32_t rank, uint32_t index) {
  const auto found = table_[rank].find(index);
  if (found != table_[rank].end()) return found->second;
  refuseHandle(rank, index);
}

void GpuWorld::unregisterCollective(uint32_t rank, uint32_t index, uint64_t issuedRuns, Departure departure) {
  const std::lock_guard lock(mutex_);
  Registered& entry = registered(rank, index);
  GpuRank& mine = *ranks_[rank];
  GpuMember& own = entry.registration->memberHere(entry.member);
  if (departure == Departure::forNow && own.captured() != nullptr && own.captured()->isHeld()) {
    throw Error(dfcclInUse, "A graph has runs of " + nameOf(entry.spec) + ".", "Destroy the graph first.",
                {{"id", entry.spec.id.text()}});
  }
  const uint64_t begin = readTicks();
  uint64_t finished = 0;
  // The host's own count comes first, but knows nothing of what JavaScript has taken by itself.
  const auto countFinished = [&] {
    return std::max(mine.queues().overOf(index), entry.registration->finishedRunsOf(entry.member));
  };
  while (!mine.isLost() && (finished = countFinished()) < issuedRuns) {
    if (readTicks() - begin < static_cast<uint64_t>(kCountMicros * ticksPerMicrosecond())) continue;
    refuseInFlight(rank, entry.spec.id, issuedRuns - finished);
  }
  // May be refused, so it comes before anything is given back.
  const std::unique_ptr<Segment::Lock> segmentLock = lockSegment();
  mine.giveBack(entry.place, own.captured() == nullptr ? issuedRuns : 0);  // what the daemon has counted
  if (own.captured() != nullptr) {
    if (departure == Departure::forGood) own.endCaptured();
    bell_.wake();  // the daemon tells the device, and clears what goes
  }
  tasksPerBlock_[rank] -= tasksPerBlock(entry.place.blockCount);
  depart(rank, entry, departure, issuedRuns);
  table_[rank].erase(index);
}

void GpuWorld::depart(uint32_t, Registered& entry, Departure departure, uint64_t finishedRuns) {
  const auto registration = std::static_pointer_cast<GpuRegistration>(entry.registration);
  registration->leave(entry.member, departure, finishedRuns);
  if (registration->isAbandoned()) registrations_.drop(*registration);
}

}  // namespace dfccl::gpu
