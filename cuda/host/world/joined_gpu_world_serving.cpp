// What a rank in a process of its own tells its peers, and takes from them, while programs run. Nothing here calls
// CUDA, so it goes on while another thread keeps the driver to itself (decision 23).
#include <algorithm>

#include "host/driver/own_thread.hpp"
#include "host/driver/process_end.hpp"
#include "host/world/joined_gpu_world.hpp"
#include "os/futex.hpp"
#include "world/graph_numbers.hpp"

namespace dfccl::gpu {
namespace {

constexpr uint64_t kSweepMillis = 1000;

}  // namespace

/// Tells the daemon and the peers what they wait for. It calls nothing of CUDA's that another thread could keep from it
/// by having the driver to itself.
void JoinedGpuWorld::serve() {
  if (!beginOwnThread("dfccl server")) return;
  Atomic<uint32_t>& attention = segment_->area(own_).attention;
  uint64_t sweptAt = nowMillis();
  while (stopping_.load(order::seqCst) == 0) {
    const uint32_t seen = attention.load(order::seqCst);
    try {
      completeRegistrations();
      checkPeers();
      freeDeparted();
      freeForgotten();
      if (nowMillis() - sweptAt > kSweepMillis) {
        sweptAt = nowMillis();
        // It asks CUDA what lies at an address.
        const ProcessEnd::Call call;
        if (!call.isAllowed()) return;
        ownWindows_.sweep();
      }
    } catch (const Error& error) {
      // That the others are behind passes; what CUDA has against this process doesn't.
      if (error.status() != dfcclQueueFull) giveUp(error.what());
    }
    if (isLost(own_)) giveUp(rank(own_).lostBecause());
    sharedFutexWait(&attention.value, seen, kPeriodMillis * 1000);
  }
}

/// This rank's device does nothing more, and the others are not to wait for it.
void JoinedGpuWorld::giveUp(const std::string& why) {
  const std::lock_guard lock(mutex());
  if (!failures_[own_].empty()) return;
  failures_[own_] = why;
  for (auto& [index, entry] : registeredOn(own_)) entry.registration->letKernelsEnd();
  for (auto& [index, entry] : registeredOn(own_)) poison(own_, entry);
}

void JoinedGpuWorld::completeRegistrations() {
  const std::lock_guard lock(mutex());
  std::erase_if(incomplete_,
                [this](const std::shared_ptr<JoinedRegistration>& registration) { return complete(*registration); });
  incompleteCount_.store(static_cast<uint32_t>(incomplete_.size()), order::release);
}

/// @return whether all are there.
bool JoinedGpuWorld::complete(JoinedRegistration& registration) {
  SharedRegistration& shared = registration.shared();
  std::vector<MemberView> views;
  const std::vector<uint32_t>& ranks = registration.spec().ranks;
  // Until the other machines know that this rank is there: it may have been away (network/proxy_away.cpp).
  if (segment_->records(own_)[registration.own().index()].isHeld.load(order::acquire) != 0) return false;
  for (uint32_t m = 0; m < ranks.size(); ++m) {
    if (shared.isElsewhere(m)) {
      // It may have sent all that it has to, and left.
      if (!shared.hasJoined(m)) return false;
      views.push_back(MemberView::elsewhere());
      continue;
    }
    const std::span<const uint8_t> facts = shared.factsOf(m);
    if (facts.empty() || shared.hasLeft(m)) return false;
    if (ranks[m] == own_) {
      views.push_back({registration.own().facts(), rank(own_).arena().base(), nullptr, nullptr});
      continue;
    }
    const uint64_t seenAt = arenasSeen_[ranks[m]];
    if (seenAt == 0) return false;
    views.push_back(
        {MemberFacts::of(facts), reinterpret_cast<uint8_t*>(seenAt), tables_[ranks[m]], tablesInHost_[ranks[m]]});
  }
  registration.own().complete(views);
  return true;
}

/// Others may write to a member's memory after its last run: what they have taken from a connector, or of a message
/// that was sent ahead. So it is kept until all have left, those for now that come back for such a message too.
void JoinedGpuWorld::freeDeparted() {
  const std::lock_guard lock(mutex());
  if (departed_.empty()) return;
  const Segment::Lock segmentLock(*segment_, std::try_to_lock);
  if (!segmentLock.isHeld()) return;
  std::erase_if(departed_, [this](const std::shared_ptr<JoinedRegistration>& registration) {
    SharedRegistration& shared = registration->shared();
    if (shared.isAway(registration->member()) && !registration->isPoisoned()) return false;
    if (machines_ && machines_->holds(*registration)) return false;
    for (uint32_t m = 0; m < registration->spec().ranks.size(); ++m) {
      const bool mayWrite = shared.isMember(m) || (shared.isAway(m) && !registration->isPoisoned());
      if (shared.isElsewhere(m)) continue;  // it writes through this process's proxy
      if (mayWrite && !segment_->isProcessGone(registration->spec().ranks[m])) return false;
    }
    shared.finishLeaving(registration->member());
    if (shared.isAbandoned()) directory_.drop(shared);
    return true;
  });
}

/// An allocation is freed when nobody has it mapped: what comes of freeing it sooner, CUDA doesn't say.
void JoinedGpuWorld::freeForgotten() {
  const std::lock_guard lock(mutex());
  std::erase_if(freed_, [this](const Freed& freed) {
    if (!ownWindows_.isReleased(freed.position)) return false;
    freeLater(own_, freed.memory);
    return true;
  });
}

/// Shows the others how far this rank's daemon is: they can't ask its device. Under mutex().
void JoinedGpuWorld::mirror() {
  if (isLost(own_)) return;
  const uint64_t now = nowMillis();
  for (auto& [index, entry] : registeredOn(own_)) {
    auto& registration = static_cast<JoinedRegistration&>(*entry.registration);
    CollectiveRecord& mirrored = segment_->records(own_)[index];
    const uint64_t submitted = registration.own().submittedRuns();
    const uint64_t finished = registration.own().finishedRuns();
    mirrorRuns(index, submitted, finished);
    if (entry.isDropped && registration.own().hasDropped()) {
      mirrored.blocksDropped.store(options_.limits.grid, order::release);
    }
    SharedMember& shown = registration.shared().record()->members[registration.member()];
    shown.issuedRuns.store(rank(own_).queues().issuedOf(index), order::relaxed);
    shown.noteRuns(submitted, finished, now);
  }
}

void JoinedGpuWorld::mirrorRuns(uint32_t index, uint64_t submitted, uint64_t finished) {
  CollectiveRecord& mirrored = segment_->records(own_)[index];
  mirrored.submittedRuns.store(submitted, order::release);
  mirrored.finishedRuns.store(finished, order::release);
}

void JoinedGpuWorld::checkPeers() {
  const std::lock_guard lock(mutex());
  mirror();
  for (auto& [index, entry] : registeredOn(own_)) {
    if (entry.isDropped) continue;
    auto& registration = static_cast<JoinedRegistration&>(*entry.registration);
    const CollectiveRecord& mirrored = segment_->records(own_)[index];
    const uint64_t submitted = mirrored.submittedRuns.load(order::relaxed);
    const uint64_t finished = mirrored.finishedRuns.load(order::relaxed);
    // What graphs carry out counts as nobody's run, and may be launched at any time.
    const bool isOfGraphs = entry.spec.signature.isCaptured() && entry.spec.signature.graph != GraphNumbers::kStreams;
    // A run that a rank has finished completes without it, in a moment.
    const bool isStuck = (isOfGraphs || submitted != finished) && entry.finishedAtCheck == finished;
    bool isAnyGone = false;
    for (uint32_t m = 0; m < registration.spec().ranks.size() && !registration.isPoisoned(); ++m) {
      const uint32_t other = registration.spec().ranks[m];
      const bool isGone = presenceOf(other) > Presence::joined;
      isAnyGone |= isGone;
      const bool isMissing = isOfGraphs || registration.shared().finishedRunsOf(m) < submitted;
      const bool isHopeless = isGone && (other == own_ || (isStuck && isMissing));
      if (isHopeless) registration.shared().noteLost(other, presenceOf(other));
      if (isHopeless || !failures_[other].empty()) registration.poison(other);
    }
    entry.finishedAtCheck = isAnyGone ? finished : Registered::kUnchecked;
    if (!registration.isPoisoned()) continue;
    if (registration.shared().spansHosts()) machines_->tellPoisoned(registration);
    askToDrop(own_, index);
  }
}

}  // namespace dfccl::gpu
