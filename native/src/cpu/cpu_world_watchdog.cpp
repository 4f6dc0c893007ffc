// The watchdog of in-order worlds. It is native because JavaScript may itself be what waits.
#include <algorithm>
#include <map>

#include "cpu/cpu_world.hpp"
#include "world/collective_name.hpp"

namespace dfccl {
namespace {

/// Every task of a rank, in queue order. @param idOf of a collective, by its number in the rank's tables.
/// @pre the caller holds the rank's blocks.
template <class IdOf>
RankSituation situationOf(CpuRank& rank, uint32_t streams, bool isSynchronizing, const IdOf& idOf) {
  RankSituation situation;
  situation.isSynchronizing = isSynchronizing;
  RankMemory& memory = rank.memory();
  for (uint32_t b = 0; b < memory.limits.grid; ++b) {
    BlockDaemon<CpuPlatform<>>& block = rank.daemon().block(b);
    std::map<uint32_t, uint64_t> runsBefore;  // [task]: a task that is there again stands for its next run
    for (uint32_t i = 0; i < block.queueLength(); ++i) {
      const uint32_t task = block.taskAt(i);
      const CollectiveRecord& c = memory.collectives[memory.contexts[task].collective];
      const uint64_t before = runsBefore[task]++;
      const RankSituation::Part part{idOf(c.index), c.finishedRuns.load(order::relaxed) + before};
      (i < streams && before == 0 ? situation.executing : situation.queued).push_back(part);
    }
  }
  return situation;
}

}  // namespace

uint64_t CpuWorld::progressStamp() {
  uint64_t stamp = 0;
  for (CpuRank* rank : locals_) {
    const RankMemory& memory = rank->memory();
    stamp += memory.counters.submissionsTaken.read() + memory.counters.completionsPosted.value.load(order::relaxed);
    for (const BlockMemory& block : memory.blocks) stamp += block.counters.slices.read();
  }
  return stamp;
}

void CpuWorld::watch() {
  if (options_.policy.streams == 0) return;
  const uint64_t stamp = progressStamp();
  {
    const std::lock_guard lock(deadlockMutex_);
    const bool moved = stamp != lastStamp_;
    lastStamp_ = stamp;
    if (moved || deadlock_) return;
  }
  std::vector<RankSituation> situations;
  std::map<std::pair<CollectiveId, uint64_t>, RunMembers> runs;
  {
    const std::lock_guard lock(mutex_);
    for (CpuRank* rank : locals_) rank->daemon().lockBlocks();
    for (CpuRank* rank : locals_) {
      const bool isSynchronizing = synchronizing_[rank->number()].load(order::acquire) != 0;
      situations.push_back(situationOf(*rank, options_.policy.streams, isSynchronizing,
                                       [&](uint32_t index) { return table_[rank->number()][index].spec.id; }));
    }
    for (const auto& [id, registration] : registrations_) {
      for (uint32_t m = 0; m < registration->spec().ranks.size(); ++m) {
        if (!registration->isMember(m) && !registration->isAway(m)) continue;
        // Members that have finished the run are nobody's obstacle.
        const uint32_t r = registration->spec().ranks[m];
        const uint64_t run = registration->isAway(m) ? registration->runsAtLeaving(m)
                                                     : recordOf(*registration, m).finishedRuns.load(order::relaxed);
        for (const uint64_t unfinished : {run, run + 1}) {
          RunMembers& members = runs.try_emplace({id, unfinished}, RunMembers{id, unfinished, {}}).first->second;
          members.ranks.push_back(r);
        }
      }
    }
    for (CpuRank* rank : locals_) rank->daemon().unlockBlocks();
  }
  std::vector<RunMembers> list;
  for (const auto& [key, members] : runs) list.push_back(members);
  const auto nameOfId = [&](const CollectiveId& id) {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(registrations_.begin(), registrations_.end(), [&](const auto& of) { return of.first == id; });
    return found == registrations_.end() ? "collective " + id.text() : nameOf(found->second->spec());
  };
  DeadlockReport report = findDeadlock(situations, list, nameOfId);
  if (report.cycle.empty() || progressStamp() != stamp) return;
  {
    const std::lock_guard lock(deadlockMutex_);
    deadlock_ = std::make_unique<DeadlockReport>(std::move(report));
  }
  const std::lock_guard lock(wakerMutex_);
  if (waker_) waker_(0);
}

std::unique_ptr<DeadlockReport> CpuWorld::deadlock() {
  const std::lock_guard lock(deadlockMutex_);
  return deadlock_ ? std::make_unique<DeadlockReport>(*deadlock_) : nullptr;
}

}  // namespace dfccl
