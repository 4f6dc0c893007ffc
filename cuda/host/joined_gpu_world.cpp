#include "host/joined_gpu_world.hpp"

#include <algorithm>
#include <chrono>

#include "daemon/state/windows.hpp"
#include "host/ipc.hpp"
#include "os/futex.hpp"

namespace dfccl::gpu {
namespace {

constexpr uint32_t kPeriodMillis = 50;
constexpr uint64_t kSweepMillis = 1000;
// Until then all ranks have come, or somebody is late, whom the runs that need him name.
constexpr uint64_t kArenaMillis = 5000;

}  // namespace

JoinedGpuWorld::JoinedGpuWorld(const GpuWorldOptions& options)
    : GpuWorld(options),
      segment_(options.segment),
      own_(segment_->rank()),
      directory_(segment_, options.tiles),
      ownWindows_(segment_, ipcExporter(deviceOf(own_))),
      peerWindows_(segment_, ipcImporter(deviceOf(own_),
                                         [this](uint32_t owner, uint16_t window, const std::vector<uint64_t>& bases) {
                                           rank(own_).arena().store(tables_[owner] + window, bases.data(),
                                                                    bases.size() * sizeof(uint64_t));
                                         })),
      arenasSeen_(segment_->ranks()),
      failures_(segment_->ranks()) {
  DeviceArena& arena = rank(own_).arena();
  for (uint32_t r = 0; r < segment_->ranks(); ++r) {
    tables_.push_back(
        r == own_ ? nullptr
                  : reinterpret_cast<Atomic<uint64_t>*>(arena.allocate(windows::kCount * sizeof(Atomic<uint64_t>))));
    if (r == own_) continue;
    for (const uint32_t window : {0u, uint32_t{windows::kUnmapped}}) {
      arena.store(tables_[r] + window, &windows::kUnused, sizeof windows::kUnused);
    }
  }
  // First, so that the others know it for the arena.
  ownWindows_.windowOf(reinterpret_cast<uint64_t>(arena.base()));
  mapper_ = std::thread([this] { mapPeers(); });
  awaitArenas();
  server_ = std::thread([this] { serve(); });
  // It only sees who is gone and says that this process lives: what asks the device may take long.
  watch_.emplace(
      segment_, options.muteMillis, [] {}, [] {});
}

JoinedGpuWorld::~JoinedGpuWorld() { stop(); }

void JoinedGpuWorld::stop() {
  watch_.reset();
  stopping_.store(1, order::seqCst);
  PeerWatch::alarm(*segment_);
  if (server_.joinable()) server_.join();
  if (mapper_.joinable()) mapper_.join();
  for (const Freed& freed : freed_) freeLater(own_, freed.memory);
  freed_.clear();
  GpuWorld::stop();
  peerWindows_.close();
  segment_->leave();
}

RunWindows JoinedGpuWorld::windowsOf(uint32_t, const RunShape& shape, const void* send, const void* recv) {
  const auto windowOf = [&](const void* buffer) {
    const auto address = reinterpret_cast<uint64_t>(buffer);
    return shape.stagesUnmapped ? ownWindows_.mappedWindowOf(address) : ownWindows_.windowOf(address);
  };
  RunWindows windows;
  if (shape.sendBytes != 0) windows.send = windowOf(send);
  if (shape.recvBytes != 0) windows.recv = windowOf(recv);
  return windows;
}

void* JoinedGpuWorld::allocate(uint32_t rank, size_t bytes) {
  void* const memory = GpuWorld::allocate(rank, bytes);
  ownWindows_.keep(reinterpret_cast<uint64_t>(memory));
  return memory;
}

void JoinedGpuWorld::free(uint32_t rank, void* memory, size_t) {
  forgetAllocated(rank, memory);
  const std::optional<uint64_t> position = ownWindows_.forget(reinterpret_cast<uint64_t>(memory));
  if (!position) return freeLater(rank, memory);
  const std::lock_guard lock(mutex());
  freed_.push_back({memory, *position});
}

std::shared_ptr<DeviceGroup> JoinedGpuWorld::enter(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                                   std::unique_ptr<GpuMember> own) {
  const uint32_t index = own->index();
  CollectiveRecord& mirrored = segment_->records(own_)[index];
  mirrored = CollectiveRecord{};
  mirrored.id = spec.id.number;
  mirrored.index = index;
  mirrored.member = member;
  std::shared_ptr<JoinedGroup> group;
  {
    const Segment::Lock lock(*segment_);
    std::shared_ptr<SharedGroup> shared = directory_.groupFor(spec, member, digest);
    try {
      shared->joinOnDevice(member, index, own->facts().packed());
    } catch (...) {
      if (shared->isAbandoned()) directory_.drop(*shared);
      throw;
    }
    group = std::make_shared<JoinedGroup>(std::move(shared), member, std::move(own));
  }
  incomplete_.push_back(group);
  PeerWatch::alarm(*segment_);
  return group;
}

void JoinedGpuWorld::depart(uint32_t, Registered& entry) {
  const auto group = std::static_pointer_cast<JoinedGroup>(entry.group);
  segment_->records(own_)[group->own().index()].finishedRuns.store(group->own().finishedRuns(), order::release);
  {
    const Segment::Lock lock(*segment_);
    group->shared().leave(group->member());
  }
  std::erase(incomplete_, group);
  departed_.push_back(group);
  PeerWatch::alarm(*segment_);
}

void JoinedGpuWorld::poison(uint32_t rank, Registered& entry) {
  if (!static_cast<JoinedGroup&>(*entry.group).poison(rank)) return;
  askToDrop(rank, entry.place.index);
  PeerWatch::alarm(*segment_);  // the others tell their own daemons
}

/// Maps what the others announce, on a thread of its own that nobody waits for: its calls of CUDA's take as long as
/// another thread keeps the driver to itself.
void JoinedGpuWorld::mapPeers() {
  cudaSetDevice(deviceOf(own_));
  Atomic<uint32_t>& attention = segment_->area(own_).attention;
  while (stopping_.load(order::seqCst) == 0) {
    const uint32_t seen = attention.load(order::seqCst);
    try {
      peerWindows_.take();
      ownWindows_.exportWanted();
    } catch (const Error& error) {
      giveUp(error.what());
    }
    noteMapped();
    sharedFutexWait(&attention.value, seen, kPeriodMillis * 1000);
  }
}

/// What the other threads have to know of that.
void JoinedGpuWorld::noteMapped() {
  bool isAnyFailed = false;
  {
    const std::lock_guard lock(mutex());
    for (uint32_t r = 0; r < segment_->ranks(); ++r) {
      if (r == own_) continue;
      if (arenasSeen_[r] == 0) arenasSeen_[r] = peerWindows_.firstOf(r).seenAt;
      if (peerWindows_.failureOf(r).empty() || !failures_[r].empty()) continue;
      failures_[r] = peerWindows_.failureOf(r);
      isAnyFailed = true;
    }
  }
  if (isAnyFailed) PeerWatch::alarm(*segment_);
}

/// From here on the ranks can reach each other's arenas, and whatever goes through them needs no mapping.
void JoinedGpuWorld::awaitArenas() {
  const auto isSeen = [this](uint32_t r) {
    const std::lock_guard lock(mutex());
    return r == own_ || arenasSeen_[r] != 0 || !failures_[r].empty() || !failures_[own_].empty();
  };
  const uint64_t begin = nowMillis();
  for (uint32_t r = 0; r < segment_->ranks(); ++r) {
    // Who never comes is named where a run waits for him.
    while (!isSeen(r) && segment_->presenceOf(r) <= Presence::joined && nowMillis() - begin < kArenaMillis) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

/// Tells the daemon and the peers what they wait for. It calls nothing of CUDA's, so it goes on while another thread
/// keeps the driver to itself.
void JoinedGpuWorld::serve() {
  Atomic<uint32_t>& attention = segment_->area(own_).attention;
  uint64_t sweptAt = nowMillis();
  while (stopping_.load(order::seqCst) == 0) {
    const uint32_t seen = attention.load(order::seqCst);
    try {
      completeGroups();
      checkPeers();
      freeDeparted();
      freeForgotten();
      if (nowMillis() - sweptAt > kSweepMillis) {
        sweptAt = nowMillis();
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
  for (auto& [index, entry] : registeredOn(own_)) poison(own_, entry);
}

void JoinedGpuWorld::completeGroups() {
  const std::lock_guard lock(mutex());
  std::erase_if(incomplete_, [this](const std::shared_ptr<JoinedGroup>& group) { return complete(*group); });
}

/// @return whether all are there.
bool JoinedGpuWorld::complete(JoinedGroup& group) {
  SharedGroup& shared = group.shared();
  std::vector<MemberView> views;
  const std::vector<uint32_t>& ranks = group.spec().ranks;
  for (uint32_t m = 0; m < ranks.size(); ++m) {
    const std::span<const uint8_t> facts = shared.factsOf(m);
    if (facts.empty() || shared.hasLeft(m)) return false;
    if (ranks[m] == own_) {
      views.push_back({group.own().facts(), rank(own_).arena().base(), nullptr});
      continue;
    }
    const uint64_t seenAt = arenasSeen_[ranks[m]];
    if (seenAt == 0) return false;
    views.push_back({MemberFacts::of(facts), reinterpret_cast<uint8_t*>(seenAt), tables_[ranks[m]]});
  }
  group.own().complete(views);
  return true;
}

/// Others may write to a member's memory after its last run: what they have taken from a connector, say. So it is kept
/// until all have left.
void JoinedGpuWorld::freeDeparted() {
  const std::lock_guard lock(mutex());
  if (departed_.empty()) return;
  const Segment::Lock segmentLock(*segment_, std::try_to_lock);
  if (!segmentLock.isHeld()) return;
  std::erase_if(departed_, [this](const std::shared_ptr<JoinedGroup>& group) {
    SharedGroup& shared = group->shared();
    for (uint32_t m = 0; m < group->spec().ranks.size(); ++m) {
      if (shared.isMember(m) && !segment_->isProcessGone(group->spec().ranks[m])) return false;
    }
    shared.finishLeaving(group->member());
    if (shared.isAbandoned()) directory_.drop(shared);
    return true;
  });
}

/// An allocation is freed when nobody has it mapped: what comes of freeing it sooner, CUDA doesn't say.
void JoinedGpuWorld::freeForgotten() {
  const std::lock_guard lock(mutex());
  std::erase_if(freed_, [this](const Freed& freed) {
    if (!ownWindows_.isTaken(freed.position)) return false;
    freeLater(own_, freed.memory);
    return true;
  });
}

/// Shows the others how far this rank's daemon is: they can't ask its device. Under mutex().
void JoinedGpuWorld::mirror() {
  if (isLost(own_)) return;
  const uint64_t now = nowMillis();
  for (auto& [index, entry] : registeredOn(own_)) {
    auto& group = static_cast<JoinedGroup&>(*entry.group);
    CollectiveRecord& mirrored = segment_->records(own_)[index];
    const uint64_t submitted = group.own().submittedRuns();
    const uint64_t finished = group.own().finishedRuns();
    mirrored.submittedRuns.store(submitted, order::release);
    mirrored.finishedRuns.store(finished, order::release);
    if (entry.isDropped && group.own().hasDropped()) {
      mirrored.blocksDropped.store(options_.limits.grid, order::release);
    }
    group.shared().record()->members[group.member()].noteRuns(submitted, finished, now);
  }
}

void JoinedGpuWorld::checkPeers() {
  const std::lock_guard lock(mutex());
  mirror();
  for (auto& [index, entry] : registeredOn(own_)) {
    if (entry.isDropped) continue;
    auto& group = static_cast<JoinedGroup&>(*entry.group);
    const CollectiveRecord& mirrored = segment_->records(own_)[index];
    const uint64_t submitted = mirrored.submittedRuns.load(order::relaxed);
    const uint64_t finished = mirrored.finishedRuns.load(order::relaxed);
    // A run that a rank has finished completes without it, in a moment.
    const bool isStuck = submitted != finished && entry.finishedAtCheck == finished;
    bool isAnyGone = false;
    for (uint32_t m = 0; m < group.spec().ranks.size() && !group.isPoisoned(); ++m) {
      const uint32_t other = group.spec().ranks[m];
      const bool isGone = segment_->presenceOf(other) > Presence::joined;
      isAnyGone |= isGone;
      const bool isHopeless = isGone && (other == own_ || (isStuck && group.shared().finishedRunsOf(m) < submitted));
      if (isHopeless || !failures_[other].empty()) group.poison(other);
    }
    entry.finishedAtCheck = isAnyGone ? finished : Registered::kUnchecked;
    if (group.isPoisoned()) askToDrop(own_, index);
  }
}

std::vector<LostRank> JoinedGpuWorld::lostRanks() {
  std::vector<LostRank> lost;
  for (uint32_t r = 0; r < size(); ++r) {
    const Presence presence = segment_->presenceOf(r);
    if (presence > Presence::joined) lost.push_back({r, presence});
  }
  return lost;
}

std::string JoinedGpuWorld::whyAborted(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex());
  const uint32_t by = static_cast<JoinedGroup&>(*registered(rank, index).group).poisonedBy();
  return by == CollectiveShared::kNobody ? std::string() : failures_[by];
}

}  // namespace dfccl::gpu
