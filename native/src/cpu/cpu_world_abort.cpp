// How a world gives a collective up: what its daemons are told, and when nobody touches it any more.
#include "cpu/cpu_world.hpp"
#include "os/pause.hpp"

namespace dfccl {

void CpuWorld::abortCollective(uint32_t rank, uint32_t index) {
  {
    const std::lock_guard lock(mutex_);
    JointRegistration& registration = *registered(rank, index).registration;
    uint32_t nobody = CollectiveShared::kNobody;
    const bool isFirst = registration.shared().poisonedBy.compareExchange(nobody, rank, order::acqRel, order::relaxed);
    const std::vector<uint32_t>& members = registration.spec().ranks;
    // At once, and also where somebody else was first: who hears later what this rank does next must know by then that
    // this is over.
    if (proxy_ && proxy_->spans(members)) proxy_->tellPoisoned(static_cast<SharedRegistration&>(registration));
    if (!isFirst) return;
    // Each process tells its own daemon.
    for (uint32_t m = 0; !watch_ && m < members.size(); ++m) {
      if (!registration.isMember(m)) continue;
      table_[members[m]][registration.indexOf(m)].isDropped = true;
      tellDaemon(members[m], registration.indexOf(m));
    }
  }
  // Without the lock, which the watch doesn't wait for.
  if (watch_) return PeerWatch::alarm(*options_.segment);
  pool_.wake();
}

bool CpuWorld::isAborted(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  return registered(rank, index).registration->shared().isPoisoned();
}

void CpuWorld::tellDaemon(uint32_t rank, uint32_t index) {
  ControlRing& control = ranks_[rank]->memory().control;
  while (control.isFull()) pool_.helpRank(rank);
  control.put({ControlRequest::abort, index}, order::release);
}

/// After an abort: a daemon that hasn't come to it yet would take the next collective with this index for it.
void CpuWorld::awaitDrop(uint32_t rank, const Registered& entry, const CollectiveRecord& record) {
  const uint32_t blocks = ranks_[rank]->memory().limits.grid;
  while (entry.isDropped && record.blocksDropped.load(order::acquire) < blocks && !ranks_[rank]->hasExited()) {
    if (!pool_.stepRank(rank)) cpuPause();
  }
}

bool CpuWorld::isLetGo(JointRegistration& registration) {
  const std::vector<uint32_t>& ranks = registration.spec().ranks;
  for (uint32_t m = 0; m < ranks.size(); ++m) {
    if (!(directory_ ? static_cast<SharedRegistration&>(registration).hasLetGo(m) : hasLetGo(registration, m)))
      return false;
  }
  return true;
}

/// A member that never registered, or has left, touches nothing.
bool CpuWorld::hasLetGo(const JointRegistration& registration, uint32_t member) const {
  if (!registration.isMember(member)) return true;
  const RankMemory& memory = ranks_[registration.spec().ranks[member]]->memory();
  return memory.collectives[registration.indexOf(member)].blocksDropped.load(order::acquire) == memory.limits.grid;
}

bool CpuWorld::isQuarantineOver(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  JointRegistration& registration = *registered(rank, index).registration;
  return registration.shared().isPoisoned() && isLetGo(registration);
}

}  // namespace dfccl
