// What a world tells of its collectives, its members' progress, its counters and its memory.
#include <algorithm>

#include "cpu/cpu_world.hpp"

namespace dfccl {

CollectiveRecord& CpuWorld::recordOf(const Group& group, uint32_t member) {
  const uint32_t rank = group.spec().ranks[member];
  const uint32_t index = group.indexOf(member);
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
uint64_t CpuWorld::runsOf(const Group& group, uint32_t member) {
  if (!group.isMember(member)) return group.runsAtLeaving(member);
  const uint32_t rank = group.spec().ranks[member];
  const uint64_t submitted = recordOf(group, member).submittedRuns.load(order::acquire);
  // Also what waits for room, which its daemon hasn't heard of.
  return ranks_[rank] ? std::max(submitted, ranks_[rank]->issuedOf(group.indexOf(member))) : submitted;
}

std::vector<MemberProgress> CpuWorld::explain(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  Group& group = *registered(rank, index).group;
  std::vector<MemberProgress> members;
  for (uint32_t m = 0; m < group.spec().ranks.size(); ++m) {
    const uint32_t r = group.spec().ranks[m];
    if (!group.isMember(m)) {
      const uint64_t runs = group.runsAtLeaving(m);
      members.push_back({r, group.isAway(m), runs, runs});
      continue;
    }
    const uint64_t submitted = runsOf(group, m);
    members.push_back({r, true, submitted, recordOf(group, m).finishedRuns.load(order::acquire)});
  }
  return members;
}

uint64_t CpuWorld::runsBefore(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const Registered& entry = registered(rank, index);
  return entry.group->runsAtLeaving(entry.member);
}

std::vector<uint64_t> CpuWorld::mismatchedCounts(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const CollectiveShared& shared = registered(rank, index).group->shared();
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
         (entry.program->memoryBytes() + entry.group->ownBytes() + entry.group->jointBytes()) /
             entry.program->header.rankCount +
         sizeof(Mailbox) + entry.program->scratchBytes +
         entry.group->connectorBytes() / entry.program->header.rankCount;
}

size_t CpuWorld::remoteBytesOf(uint32_t) { return proxy_ ? proxy_->bookBytes() : 0; }

}  // namespace dfccl
