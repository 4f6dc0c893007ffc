// What a world tells of its collectives, its members' progress, its counters and its memory.
#include <algorithm>

#include "cpu/cpu_world.hpp"

namespace dfccl {

CollectiveRecord& CpuWorld::recordOf(const JointRegistration& registration, uint32_t member) {
  const uint32_t rank = registration.spec().ranks[member];
  const uint32_t index = registration.indexOf(member);
  return options_.segment ? options_.segment->records(rank)[index] : ranks_[rank]->memory().collectives[index];
}

RunShape CpuWorld::shapeOf(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const Registered& entry = registered(rank, index);
  RunShape shape = runShapeOf(entry.spec, entry.member, entry.program->header);
  if (options_.segment && entry.program->usesDirect()) {
    shape.windowBegin = options_.segment->begin();
    shape.windowEnd = options_.segment->end();
    shape.rings = entry.rings.get();
  }
  return shape;
}

CollectiveSpec CpuWorld::specOf(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  return registered(rank, index).spec;
}

/// Runs that a member has submitted. @pre it is one, or has left
uint64_t CpuWorld::runsOf(const JointRegistration& registration, uint32_t member) {
  if (!registration.isMember(member)) return registration.runsAtLeaving(member);
  const uint32_t rank = registration.spec().ranks[member];
  const uint64_t submitted = recordOf(registration, member).submittedRuns.load(order::acquire);
  // Also what waits for room, which its daemon hasn't heard of.
  return ranks_[rank] ? std::max(submitted, ranks_[rank]->issuedOf(registration.indexOf(member))) : submitted;
}

std::vector<MemberProgress> CpuWorld::explain(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  JointRegistration& registration = *registered(rank, index).registration;
  std::vector<MemberProgress> members;
  for (uint32_t m = 0; m < registration.spec().ranks.size(); ++m) {
    const uint32_t r = registration.spec().ranks[m];
    if (!registration.isMember(m)) {
      const uint64_t runs = registration.runsAtLeaving(m);
      members.push_back({r, registration.isAway(m), runs, runs});
      continue;
    }
    const uint64_t submitted = runsOf(registration, m);
    members.push_back({r, true, submitted, recordOf(registration, m).finishedRuns.load(order::acquire)});
  }
  return members;
}

uint64_t CpuWorld::runsBefore(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const Registered& entry = registered(rank, index);
  return entry.registration->runsAtLeaving(entry.member);
}

std::vector<uint64_t> CpuWorld::mismatchedCounts(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const CollectiveShared& shared = registered(rank, index).registration->shared();
  std::vector<uint64_t> counts;
  // They may be overwritten by those of a later run; then all of them soon are, unless their process has ended.
  constexpr int kPatience = 1'000'000;
  for (int i = 0; i < kPatience && counts.size() != shared.members; ++i) {
    const uint64_t number = shared.mismatchedRun.load(order::acquire);
    if (number == 0) return {};
    counts.clear();
    for (uint32_t m = 0; m < shared.members; ++m) {
      const uint64_t word = shared.mailboxes[m].mismatchedCount.load(order::acquire);
      if (!Mailbox::isOfRun(word, number - 1)) break;
      counts.push_back(Mailbox::countOf(word));
    }
  }
  return counts.size() == shared.members ? counts : std::vector<uint64_t>{};
}

CounterReading CpuWorld::readCounters(uint32_t rank) {
  const RankMemory& memory = ranks_[rank]->memory();
  CounterReading reading{memory.counters, {}};
  for (const BlockMemory& block : memory.blocks) reading.blocks.push_back(block.counters);
  return reading;
}

size_t CpuWorld::arenaUsedBytes() const {
  const std::lock_guard lock(mutex_);
  if (!options_.segment) return arena_.usedBytes();
  const Segment::Lock segmentLock(*options_.segment);
  return options_.segment->arena().usedBytes();
}

size_t CpuWorld::memoryBytesOf(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  Registered& entry = registered(rank, index);
  return sizeof(CollectiveRecord) +
         entry.program->header.blockCount * (sizeof(TaskContext) + sizeof(Atomic<uint64_t>)) + sizeof(Registered) +
         (entry.program->memoryBytes() + entry.registration->ownBytes() + entry.registration->jointBytes()) /
             entry.program->header.rankCount +
         sizeof(Mailbox) + entry.program->scratchBytes +
         entry.registration->connectorBytes() / entry.program->header.rankCount;
}

size_t CpuWorld::remoteBytesOf(uint32_t) { return proxy_ ? proxy_->bookBytes() : 0; }

}  // namespace dfccl
