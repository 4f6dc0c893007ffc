// What a world on GPUs says of itself: how far its collectives are, and what they take.
#include "host/world/gpu_world.hpp"

namespace dfccl::gpu {

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
  return registered(rank, index).registration->progress([this](uint32_t of, uint32_t at) {
    return ranks_[of]->queues().issuedOf(at);
  });
}

uint64_t GpuWorld::runsBefore(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const Registered& entry = registered(rank, index);
  return entry.registration->runsAtLeaving(entry.member);
}

size_t GpuWorld::memoryBytesOf(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const Registered& entry = registered(rank, index);
  return sizeof(CollectiveRecord) + entry.place.blockCount * sizeof(TaskContext) + entry.tables.bytes() +
         entry.registration->bytesOf(entry.member);
}

uint64_t GpuWorld::freeMemoryBytes(uint32_t rank) const {
  const std::lock_guard lock(mutex_);
  const DeviceArena& arena = ranks_[rank]->arena();
  return arena.capacity() - arena.usedBytes();
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
