#include "cpu/cpu_world.hpp"

#include <algorithm>

#include "os/pause.hpp"

namespace dfccl {
namespace {

constexpr size_t kLeastArenaBytes = 4096;  // where the segment's is used

scheduling::SchedulePolicy inTicks(scheduling::SchedulePolicy policy) {
  const double perNano = ticksPerMicrosecond() / 1000;
  const auto convert = [&](uint64_t nanos) { return static_cast<uint64_t>(static_cast<double>(nanos) * perNano); };
  policy.quit.idleTicks = convert(policy.quit.idleTicks);
  policy.quit.residencyTicks = convert(policy.quit.residencyTicks);
  return policy;
}

}  // namespace

CpuWorld::CpuWorld(const WorldOptions& options)
    : Backend((checkOptions(options), options)),
      arena_(options.segment ? kLeastArenaBytes : options.arenaBytes),
      connectors_(arena_),
      table_(options.ranks),
      freeIndices_(options.ranks),
      programs_(options.tiles),
      synchronizing_(options.ranks),
      backgroundDelivery_(options.ranks),
      pool_(*this) {
  const scheduling::SchedulePolicy policy = inTicks(options.policy);
  Segment* const segment = options.segment.get();
  for (uint32_t r = 0; r < options.ranks; ++r) {
    taskTables_.emplace_back(options.limits.tasks);
    if (segment != nullptr && r != segment->rank()) {
      ranks_.push_back(nullptr);
      queues_.push_back(nullptr);
      continue;
    }
    const SharedTables shared =
        segment == nullptr ? SharedTables{} : SharedTables{&segment->area(r).control, segment->records(r)};
    ranks_.push_back(std::make_unique<CpuRank>(
        r, options.limits, policy, [this] { ring(); }, shared));
    locals_.push_back(ranks_.back().get());
    queues_.push_back(ranks_.back().get());
  }
  if (segment != nullptr) {
    directory_.emplace(options.segment, options.tiles);
    agreement_.emplace(options.segment, options.network != nullptr);
  }
  sleepers_ = &pool_.sleepers();
  if (options.network) {
    const Proxy::Hooks hooks{[this] { pool_.wake(); }, [segment] { PeerWatch::alarm(*segment); }};
    proxy_.emplace(options.network, options.segment, options.tiles, options.muteMillis, hooks);
  }
  pool_.start(options.workers);
  if (segment != nullptr)
    watch_.emplace(
        options.segment, options.muteMillis, [this] { return checkPeers(); }, [this] { noteWaiting(); });
}

CpuWorld::~CpuWorld() { stop(); }

void CpuWorld::stop() {
  const bool wasWatched = watch_.has_value();
  watch_.reset();
  // What was given up last, the others hear before this rank's goodbye: they would count on its runs.
  if (wasWatched) checkPeers();
  pool_.stop();
  if (proxy_) proxy_->stop();
  if (options_.segment) options_.segment->leave();
}

void CpuWorld::leave(uint32_t rank) {
  while (!ranks_[rank]->submitExit()) driveRank(rank);
  while (!ranks_[rank]->hasExited()) driveRank(rank);
}

bool CpuWorld::synchronize(uint32_t rank, uint64_t timeoutMicros) {
  const uint64_t stay = residentStay(rank);
  if (stay == 0) return true;
  noteSynchronizing(rank, 1);
  const uint64_t begin = readTicks();
  const uint64_t limit = ticksOf(timeoutMicros);
  bool isOver;
  while (!(isOver = isStayOver(rank, stay))) {
    if (timeoutMicros != 0 && readTicks() - begin > limit) break;
    if (drive()) continue;
    if (deadlock()) break;
    cpuPause();
  }
  noteSynchronizing(rank, -1);
  return isOver;
}

void CpuWorld::setWaker(std::function<void(uint32_t)> waker) {
  const std::lock_guard lock(wakerMutex_);
  waker_ = std::move(waker);
}

void CpuWorld::lookInBackground(std::function<bool()> look) {
  look_ = std::move(look);
  mayLook_.store(1, order::release);
}

void CpuWorld::afterStep(bool hasMoved) {
  if (hasMoved && options_.segment) options_.segment->tellPeers();
  if (hasMoved && proxy_) proxy_->notify();
  for (CpuRank* rank : locals_) {
    RankMemory& memory = rank->memory();
    if (memory.wakePending.load(order::relaxed) != 0 && memory.wakePending.exchange(0, order::acqRel) != 0) {
      const std::lock_guard lock(wakerMutex_);
      if (waker_) waker_(rank->number());
    }
    hasMoved ? rank->flushMany() : rank->flush();
    if (backgroundDelivery_[rank->number()].load(order::relaxed) != 0) rank->deliver();
  }
}

void CpuWorld::flushAll() {
  for (CpuRank* rank : locals_) rank->flush();
}

bool CpuWorld::hasUnseenWork() const {
  for (const CpuRank* rank : locals_) {
    const SubmissionRing& ring = rank->memory().submissions;
    if (ring.header->tail.load(order::seqCst) != ring.header->head.load(order::seqCst)) return true;
  }
  return false;
}

bool CpuWorld::hasUnfinishedWork() const {
  return std::any_of(locals_.begin(), locals_.end(), [](const CpuRank* rank) { return rank->hasWork(); });
}

}  // namespace dfccl
