// What a world does about ranks that are other processes.
#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "cpu/cpu_world.hpp"

namespace dfccl {

std::vector<LostRank> CpuWorld::lostRanks() {
  std::vector<LostRank> lost;
  if (!options_.segment) return lost;
  for (uint32_t r = 0; r < size(); ++r) {
    const Presence presence = presenceOf(r);
    if (presence > Presence::joined) lost.push_back({r, presence});
  }
  return lost;
}

std::vector<LostRank> CpuWorld::lostFor(uint32_t rank, uint32_t index) {
  std::vector<LostRank> lost = lostRanks();
  if (!directory_) return lost;
  const std::lock_guard lock(mutex_);
  const auto [member, presence] = static_cast<SharedRegistration&>(*registered(rank, index).registration).lost();
  const bool isKnown = std::any_of(lost.begin(), lost.end(), [&](const LostRank& one) { return one.rank == member; });
  if (presence != Presence::joined && !isKnown) lost.push_back({member, presence});
  return lost;
}

std::optional<std::vector<uint32_t>> CpuWorld::agreeOnSurvivors() {
  if (!agreement_) return Backend::agreeOnSurvivors();
  const std::lock_guard lock(mutex_);
  auto survivors = agreement_->look();
  if (!survivors && proxy_) proxy_->joinAgreement();
  return survivors;
}

std::vector<uint32_t> CpuWorld::awaitedByAgreement() {
  if (!agreement_) return {};
  const std::lock_guard lock(mutex_);
  return proxy_ ? proxy_->awaitedByAgreement() : agreement_->awaited();
}

std::string CpuWorld::whyAborted(uint32_t rank, uint32_t index) {
  if (!directory_) return {};
  const std::lock_guard lock(mutex_);
  return static_cast<SharedRegistration&>(*registered(rank, index).registration).mismatch();
}

Presence CpuWorld::presenceOf(uint32_t rank) {
  return options_.segment->isLocal(rank) ? options_.segment->presenceOf(rank) : proxy_->presenceOf(rank);
}

uint32_t CpuWorld::processes() const { return options_.segment ? options_.segment->ranks() : 1; }

bool CpuWorld::checkPeers() {
  Segment& segment = *options_.segment;
  const uint32_t own = segment.rank();
  bool isAnyDropped = false;
  {
    // Who registers holds it while another rank keeps the segment's lock, for seconds where that one is stopped.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    for (uint32_t index = 0; index < table_[own].size(); ++index) {
      Registered& entry = table_[own][index];
      if (!entry.registration || entry.isDropped) continue;
      auto& registration = static_cast<SharedRegistration&>(*entry.registration);
      CollectiveShared& shared = registration.shared();
      const uint64_t submitted = segment.records(own)[index].submittedRuns.load(order::acquire);
      for (uint32_t m = 0; m < shared.members && !shared.isPoisoned(); ++m) {
        const uint32_t rank = registration.spec().ranks[m];
        // What it has finished completes without it.
        if (presenceOf(rank) <= Presence::joined || (rank != own && registration.finishedRunsOf(m) >= submitted))
          continue;
        registration.noteLost(rank, presenceOf(rank));
        uint32_t nobody = CollectiveShared::kNobody;
        shared.poisonedBy.compareExchange(nobody, rank, order::acqRel, order::relaxed);
      }
      if (!shared.isPoisoned()) continue;
      entry.isDropped = isAnyDropped = true;
      if (registration.spansHosts()) proxy_->tellPoisoned(registration);
      tellDaemon(own, index);
    }
  }
  if (isAnyDropped) pool_.wake();
  return true;
}

/// For whoever looks at the world from outside: since when each collective's current run has been under way here.
void CpuWorld::noteWaiting() {
  // The watch sees those who share memory with it; a rank that registers later with one that is gone has to know too.
  if (proxy_ && proxy_->isAnyGone()) checkPeers();
  const uint64_t now = nowMillis();
  const uint32_t own = options_.segment->rank();
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (uint32_t index = 0; index < table_[own].size(); ++index) {
    Registered& entry = table_[own][index];
    if (!entry.registration) continue;
    const CollectiveRecord& record = options_.segment->records(own)[index];
    SharedMember& member = static_cast<SharedRegistration&>(*entry.registration).record()->members[entry.member];
    const uint64_t finished = record.finishedRuns.load(order::relaxed);
    member.noteRuns(record.submittedRuns.load(order::relaxed), finished, now);
  }
}

}  // namespace dfccl
