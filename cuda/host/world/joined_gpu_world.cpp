#include "host/world/joined_gpu_world.hpp"

#include <algorithm>

#include "daemon/state/windows.hpp"
#include "host/driver/ipc.hpp"
#include "host/world/mapping_setting.hpp"

namespace dfccl::gpu {

JoinedGpuWorld::JoinedGpuWorld(const GpuWorldOptions& options)
    : GpuWorld(options),
      segment_(options.segment),
      own_(segment_->rank()),
      directory_(segment_, options.tiles),
      agreement_(segment_, options.network != nullptr),
      ownWindows_(segment_, ipcExporter(deviceOf(own_))),
      peerWindows_(segment_, ipcImporter(
                                 deviceOf(own_),
                                 [this](uint32_t owner, uint16_t window, const std::vector<uint64_t>& bases) {
                                   setBases(owner, window, bases);
                                 },
                                 [this](const std::function<void()>& unmap) {
                                   if (!mayMapBuffers()) return rank(own_).tryWhileNobodyWaits(unmap);
                                   // What is to be mapped behind it may be what a run waits for.
                                   unmap();
                                   return true;
                                 })),
      arenasSeen_(segment_->ranks()),
      failures_(segment_->ranks()) {
  DeviceArena& arena = rank(own_).arena();
  const size_t tableBytes = windows::kCount * sizeof(Atomic<uint64_t>);
  const auto inHost = std::make_shared<PinnedMemory>(std::max(segment_->ranks() - 1, 1u) * tableBytes);
  rank(own_).keepForGraphs(inHost);
  for (uint32_t r = 0; r < segment_->ranks(); ++r) {
    const bool isSeen = r != own_ && segment_->isLocal(r);
    tablesInHost_.push_back(isSeen ? reinterpret_cast<Atomic<uint64_t>*>(inHost->take(tableBytes)) : nullptr);
    tables_.push_back(isSeen ? reinterpret_cast<Atomic<uint64_t>*>(arena.allocate(tableBytes)) : nullptr);
    if (!isSeen) continue;
    for (const uint16_t window : {uint16_t{0}, windows::kUnmapped}) setBases(r, window, {windows::kUnused});
  }
  // First, so that the others know it for the arena.
  ownWindows_.windowOf(reinterpret_cast<uint64_t>(arena.base()));
  if (options.network) {
    machines_ = std::make_unique<OtherMachines>(options, rank(own_).queues(), bell(), [this] {
      // Each process hears it for itself.
      if (incompleteCount_.load(order::acquire) != 0) PeerWatch::alarm(*segment_, own_);
    });
  }
  mapper_ = std::thread([this] { mapPeers(); });
  awaitArenas();
  server_ = std::thread([this] { serve(); });
  // It only sees who is gone and says that this process lives: what asks the device may take long.
  watch_.emplace(
      segment_, options.muteMillis, [] { return true; }, [] {});
}

JoinedGpuWorld::~JoinedGpuWorld() { stop(); }

void JoinedGpuWorld::stop() {
  const bool isFirst = watch_.has_value();
  watch_.reset();
  stopping_.store(1, order::seqCst);
  PeerWatch::alarm(*segment_);
  if (server_.joinable()) server_.join();
  if (mapper_.joinable()) mapper_.join();
  for (const Freed& freed : freed_) freeLater(own_, freed.memory);
  freed_.clear();
  // What was given up last, the others hear before this rank's goodbye.
  if (machines_ && isFirst) checkPeers();
  GpuWorld::stop();
  if (machines_ && isFirst) {
    const std::lock_guard lock(mutex());
    mirror();
  }
  if (machines_) machines_->stop();
  peerWindows_.close();
  segment_->leave();
}

void JoinedGpuWorld::setBases(uint32_t owner, uint16_t window, const std::vector<uint64_t>& bases) {
  for (size_t i = 0; i < bases.size(); ++i) tablesInHost_[owner][window + i].store(bases[i], order::release);
  rank(own_).arena().store(tables_[owner] + window, bases.data(), bases.size() * sizeof(uint64_t));
}

RunWindows JoinedGpuWorld::windowsOf(uint32_t, const RunShape& shape, const void* send, const void* recv) {
  const auto windowOf = [&](const void* buffer) {
    const auto address = reinterpret_cast<uint64_t>(buffer);
    return shape.stagesUnmapped ? ownWindows_.mappedWindowOf(address) : ownWindows_.windowOf(address);
  };
  RunWindows windows;
  if (shape.sendBytes != 0) windows.send = windowOf(send);
  if (shape.recvBytes != 0) windows.recv = windowOf(recv);
  windows.renewals = ownWindows_.renewals();
  return windows;
}

void* JoinedGpuWorld::allocate(uint32_t rank, size_t bytes) {
  void* const memory = GpuWorld::allocate(rank, bytes);
  ownWindows_.keep(reinterpret_cast<uint64_t>(memory));
  return memory;
}

void JoinedGpuWorld::free(uint32_t rank, void* memory, size_t) {
  forgetAllocated(rank, memory);
  std::optional<uint64_t> position;
  try {
    position = ownWindows_.forget(reinterpret_cast<uint64_t>(memory));
  } catch (...) {  // the others are behind with what they are told: it stays allocated
    noteAllocated(rank, memory);
    throw;
  }
  if (!position) return freeLater(rank, memory);
  const std::lock_guard lock(mutex());
  freed_.push_back({memory, *position});
}

std::shared_ptr<DeviceRegistration> JoinedGpuWorld::enter(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                                          std::unique_ptr<GpuMember> own) {
  mirrorPlace(spec, member, own->index(), 0);
  const std::shared_ptr<JoinedRegistration> registration = join(spec, member, digest, std::move(own));
  noteIncomplete(registration);
  return registration;
}

std::shared_ptr<JoinedRegistration> JoinedGpuWorld::join(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                                         std::unique_ptr<GpuMember> own) {
  const Segment::Lock lock(*segment_);
  std::optional<uint32_t> generation;
  if (spansMachines(spec)) generation = machines_->generationFor(spec, digest);
  const std::shared_ptr<SharedRegistration> shared = directory_.registrationFor(spec, member, digest, generation);
  try {
    shared->joinOnDevice(member, own->index(), own->facts().packed());
  } catch (...) {
    if (shared->isAbandoned()) directory_.drop(*shared);
    throw;
  }
  auto registration = std::make_shared<JoinedRegistration>(shared, member, std::move(own));
  if (!generation) return registration;
  departed_.reserve(departed_.size() + 1);
  try {
    machines_->bind(*registration, spec, digest, segment_->records(own_)[registration->own().index()]);
  } catch (...) {
    // Others of this machine may count on it already, and have seen where its memory is.
    registration->poison(own_);
    registration->own().leave(0);
    shared->leave(member, Departure::forGood, 0);
    departed_.push_back(registration);
    PeerWatch::alarm(*segment_);
    throw;
  }
  return registration;
}

void JoinedGpuWorld::noteIncomplete(const std::shared_ptr<JoinedRegistration>& registration) {
  incomplete_.push_back(registration);
  incompleteCount_.store(static_cast<uint32_t>(incomplete_.size()), order::release);
  PeerWatch::alarm(*segment_);
}

std::shared_ptr<DeviceRegistration> JoinedGpuWorld::comeBack(const CollectiveSpec& spec, uint32_t member,
                                                             const CollectiveRecord& begun, const MemberHome& home) {
  if (!spec.id.isSignature()) return nullptr;
  const auto isOfId = [&](const std::shared_ptr<JoinedRegistration>& registration) {
    return registration->spec().id == spec.id;
  };
  if (std::none_of(departed_.begin(), departed_.end(), isOfId)) return nullptr;
  const bool isSpread = spansMachines(spec);
  const auto isIt = [&](const std::shared_ptr<JoinedRegistration>& registration) {
    if (!isOfId(registration) || registration->isPoisoned()) return false;
    SharedRegistration& shared = registration->shared();
    if (!isSpread) return shared.isAway(member);
    // Of several machines the proxy knows whether it is over.
    const uint64_t digest = shared.record()->programDigest;
    return shared.record()->generation == machines_->generationFor(spec, digest) && shared.isAway(member);
  };
  std::shared_ptr<JoinedRegistration> registration;
  {
    const Segment::Lock lock(*segment_);
    const auto found = std::find_if(departed_.begin(), departed_.end(), isIt);
    if (found == departed_.end()) return nullptr;
    registration = *found;
    mirrorPlace(spec, member, begun.index, registration->own().runsAtLeaving());
    if (isSpread) {
      machines_->bind(*registration, spec, registration->shared().record()->programDigest,
                      segment_->records(own_)[begun.index]);
    }
    registration->own().comeBack(begun, home, isSpread);
    registration->shared().comeBackOnDevice(member, begun.index);
    departed_.erase(found);
  }
  if (!registration->own().isComplete()) noteIncomplete(registration);
  PeerWatch::alarm(*segment_);
  return registration;
}

void JoinedGpuWorld::mirrorPlace(const CollectiveSpec& spec, uint32_t member, uint32_t index, uint64_t runs) {
  CollectiveRecord& mirrored = segment_->records(own_)[index];
  mirrored = CollectiveRecord{};
  mirrored.id = spec.id.number;
  mirrored.index = index;
  mirrored.member = member;
  mirrored.submittedRuns.store(runs, order::relaxed);
  mirrored.finishedRuns.store(runs, order::relaxed);
}

void JoinedGpuWorld::depart(uint32_t, Registered& entry, Departure departure, uint64_t finishedRuns) {
  const auto registration = std::static_pointer_cast<JoinedRegistration>(entry.registration);
  const bool isSpread = registration->shared().spansHosts();
  // Nobody goes back to what was given up.
  if (isSpread && registration->isPoisoned()) departure = Departure::forGood;
  if (isSpread) mirrorRuns(entry.place.index, finishedRuns, finishedRuns);
  registration->own().leave(finishedRuns);
  registration->shared().leave(registration->member(), departure, finishedRuns);
  if (isSpread) machines_->unbind(*registration, finishedRuns, departure);
  std::erase(incomplete_, registration);
  incompleteCount_.store(static_cast<uint32_t>(incomplete_.size()), order::release);
  departed_.push_back(registration);
  PeerWatch::alarm(*segment_);
}

void JoinedGpuWorld::poison(uint32_t rank, Registered& entry) {
  auto& registration = static_cast<JoinedRegistration&>(*entry.registration);
  if (!registration.poison(rank)) return;
  if (registration.shared().spansHosts()) machines_->tellPoisoned(registration);
  askToDrop(rank, entry.place.index);
  PeerWatch::alarm(*segment_);  // the others tell their own daemons
}

std::vector<LostRank> JoinedGpuWorld::lostRanks() {
  std::vector<LostRank> lost;
  for (uint32_t r = 0; r < size(); ++r) {
    const Presence presence = presenceOf(r);
    if (presence > Presence::joined) lost.push_back({r, presence});
  }
  return lost;
}

std::vector<LostRank> JoinedGpuWorld::lostFor(uint32_t rank, uint32_t index) {
  std::vector<LostRank> lost = lostRanks();
  const std::lock_guard lock(mutex());
  auto& registration = static_cast<JoinedRegistration&>(*registered(rank, index).registration);
  const auto [member, presence] = registration.shared().lost();
  const bool isKnown = std::ranges::any_of(lost, [&](const LostRank& one) { return one.rank == member; });
  if (presence != Presence::joined && !isKnown) lost.push_back({member, presence});
  return lost;
}

/// Of the pool that is scarcer.
uint64_t JoinedGpuWorld::freeMemoryBytes(uint32_t rank) const {
  const uint64_t ofArena = GpuWorld::freeMemoryBytes(rank);
  const std::lock_guard lock(mutex());
  return machines_ ? std::min(ofArena, machines_->freeBytes()) : ofArena;
}

std::optional<std::vector<uint32_t>> JoinedGpuWorld::agreeOnSurvivors() {
  const std::lock_guard lock(mutex());
  auto survivors = agreement_.look();
  if (!survivors && machines_) machines_->joinAgreement();
  return survivors;
}

std::vector<uint32_t> JoinedGpuWorld::awaitedByAgreement() {
  const std::lock_guard lock(mutex());
  return machines_ ? machines_->awaitedByAgreement() : agreement_.awaited();
}

std::string JoinedGpuWorld::whyAborted(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex());
  auto& registration = static_cast<JoinedRegistration&>(*registered(rank, index).registration);
  if (std::string mismatch = registration.shared().mismatch(); !mismatch.empty()) return mismatch;
  const uint32_t by = registration.poisonedBy();
  return by == CollectiveShared::kNobody ? std::string() : failures_[by];
}

}  // namespace dfccl::gpu
