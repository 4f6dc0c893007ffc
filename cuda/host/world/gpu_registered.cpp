// What becomes of a registered collective: looked at, aborted, unregistered.
#include <algorithm>

#include "host/world/gpu_world.hpp"
#include "os/tick_clock.hpp"
#include "world/collective_name.hpp"
#include "world/refusals.hpp"

namespace dfccl::gpu {
namespace {

/// A daemon tells the host of a run before it posts how many there were: by less than this, where nobody stops it.
constexpr double kCountMicros = 200'000;

}  // namespace

GpuWorld::Registered& GpuWorld::registered(uint32_t rank, uint32_t index) {
  const auto found = table_[rank].find(index);
  if (found != table_[rank].end()) return found->second;
  refuseHandle(rank, index);
}

void GpuWorld::unregisterCollective(uint32_t rank, uint32_t index, uint64_t issuedRuns, Departure departure) {
  const std::lock_guard lock(mutex_);
  Registered& entry = registered(rank, index);
  GpuRank& mine = *ranks_[rank];
  GpuMember& own = entry.group->memberHere(entry.member);
  if (departure == Departure::forNow && own.captured() != nullptr && own.captured()->isHeld()) {
    throw Error(dfcclInUse, "A graph has runs of " + nameOf(entry.spec) + ".", "Destroy the graph first.",
                {{"id", entry.spec.id.text()}});
  }
  const uint64_t begin = readTicks();
  uint64_t finished = 0;
  // The host's own count comes first, but knows nothing of what JavaScript has taken by itself.
  const auto countFinished = [&] {
    return std::max(mine.queues().overOf(index), entry.group->finishedRunsOf(entry.member));
  };
  while (!mine.isLost() && (finished = countFinished()) < issuedRuns) {
    if (readTicks() - begin < static_cast<uint64_t>(kCountMicros * ticksPerMicrosecond())) continue;
    refuseInFlight(rank, entry.spec.id, issuedRuns - finished);
  }
  mine.giveBack(entry.place, issuedRuns);
  if (departure == Departure::forGood && own.captured() != nullptr) {
    own.endCaptured();
    bell_.wake();  // the daemon tells the device
  }
  tasksPerBlock_[rank] -= tasksPerBlock(entry.place.blockCount);
  depart(rank, entry, departure, issuedRuns);
  table_[rank].erase(index);
}

void GpuWorld::depart(uint32_t, Registered& entry, Departure departure, uint64_t finishedRuns) {
  const auto group = std::static_pointer_cast<GpuGroup>(entry.group);
  group->leave(entry.member, departure, finishedRuns);
  if (group->isAbandoned()) groups_.drop(*group);
}

void GpuWorld::abortCollective(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  poison(rank, registered(rank, index));
}

void GpuWorld::poison(uint32_t rank, Registered& entry) {
  auto& group = static_cast<GpuGroup&>(*entry.group);
  if (!group.poison(rank)) return;
  const std::vector<uint32_t>& members = group.spec().ranks;
  for (uint32_t m = 0; m < members.size(); ++m) {
    if (group.isMember(m)) askToDrop(members[m], group.indexOf(m));
  }
}

void GpuWorld::askToDrop(uint32_t rank, uint32_t index) {
  Registered& entry = table_[rank].at(index);
  entry.isDropped = true;
  entry.group->memberHere(entry.member).endCaptured();
  ranks_[rank]->askToDrop(index);
}

bool GpuWorld::isAborted(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  return registered(rank, index).group->isPoisoned();
}

bool GpuWorld::isQuarantineOver(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  DeviceGroup& group = *registered(rank, index).group;
  return group.isPoisoned() && group.isQuarantineOver();
}

CollectiveSpec GpuWorld::specOf(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  return registered(rank, index).spec;
}

RunShape GpuWorld::shapeOf(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  return registered(rank, index).shape;
}

std::vector<MemberProgress> GpuWorld::explain(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  return registered(rank, index).group->progress();
}

uint64_t GpuWorld::runsBefore(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const Registered& entry = registered(rank, index);
  return entry.group->runsAtLeaving(entry.member);
}

size_t GpuWorld::memoryBytesOf(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const Registered& entry = registered(rank, index);
  return sizeof(CollectiveRecord) + entry.place.blockCount * sizeof(TaskContext) + entry.tables.bytes() +
         entry.group->bytesOf(entry.member);
}

size_t GpuWorld::arenaUsedBytes() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& rank : ranks_) bytes += rank ? rank->arena().usedBytes() : 0;
  return bytes;
}

CounterReading GpuWorld::readCounters(uint32_t rank) {
  const std::lock_guard lock(mutex_);
  GpuRank& mine = *ranks_[rank];
  CounterReading reading{mine.readRankCounters(), mine.readCounters()};
  reading.rank.launches.value.store(mine.launches(), order::relaxed);
  return reading;
}

}  // namespace dfccl::gpu
