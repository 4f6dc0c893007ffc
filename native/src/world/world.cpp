#include "world/world.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/pause.hpp"
#include "error.hpp"
#include "world/builtin_programs.hpp"
#include "world/connected_programs.hpp"
#include "world/program_check.hpp"

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

World::World(const WorldOptions& options)
    : Backend((checkOptions(options), options)),
      arena_(options.segment ? kLeastArenaBytes : options.arenaBytes),
      connectors_(arena_),
      table_(options.ranks),
      freeIndices_(options.ranks),
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
    ranks_.push_back(std::make_unique<Rank>(r, options.limits, policy, shared));
    locals_.push_back(ranks_.back().get());
    queues_.push_back(ranks_.back().get());
    table_[r].resize(options.limits.collectives);
  }
  if (segment != nullptr) directory_.emplace(options.segment, options.tiles);
  sleepers_ = &pool_.sleepers();
  if (options.network) {
    const Proxy::Hooks hooks{[this] { pool_.wake(); }, [segment] { PeerWatch::alarm(*segment); }};
    proxy_.emplace(options.network, options.segment, options.tiles, options.muteMillis, hooks);
  }
  pool_.start(options.workers);
  if (segment != nullptr)
    watch_.emplace(
        options.segment, options.muteMillis, [this] { checkPeers(); }, [this] { noteWaiting(); });
}

World::~World() { stop(); }

void World::stop() {
  watch_.reset();
  pool_.stop();
  if (proxy_) proxy_->stop();
  if (options_.segment) options_.segment->leave();
}

namespace {

/// Blocks that work side by side between machines: while one waits for the wire, another has something for it.
uint32_t lanesBetween(const CollectiveSpec& spec) {
  constexpr uint64_t kWorthLanes = 1 << 20;
  return spec.count * sizeOf(spec.type) >= kWorthLanes ? 4 : 1;
}

/// The program that a registration brings with it, or the built-in one.
std::vector<uint8_t> programOf(const CollectiveSpec& spec, uint32_t member, const Network* network) {
  checkHasProgram(spec);
  if (!spec.program.empty()) return spec.program;
  if (network != nullptr) {
    std::vector<uint32_t> hostOf;
    for (const uint32_t rank : spec.ranks) hostOf.push_back(network->hostOf[rank]);
    return buildConnectedProgram(spec.collective, hostOf, member, spec.root, lanesBetween(spec));
  }
  return buildDirectProgram(spec.collective, static_cast<uint32_t>(spec.ranks.size()), member, spec.root);
}

}  // namespace

std::shared_ptr<const BoundProgram> World::bind(const CollectiveSpec& spec, uint32_t member,
                                                const std::vector<uint8_t>& bytes, uint64_t& digest) {
  ProgramHeader header{};
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  digest = header.digest;
  // The digest is what the program says of itself, so the bytes are part of the key.
  std::string key(bytes.begin(), bytes.end());
  key += "|" + std::to_string(static_cast<int>(spec.type)) + "|" + std::to_string(spec.count);
  std::weak_ptr<const BoundProgram>& cached = programs_[key];
  std::shared_ptr<const BoundProgram> program = cached.lock();
  if (!program) {
    program = loadProgram(bytes, spec.type, spec.count, options_.tiles);
    cached = program;
  }
  checkProgram(program->header, spec, member);
  return program;
}

std::shared_ptr<Group> World::groupFor(const CollectiveSpec& spec, uint32_t member, uint64_t digest, bool spansHosts) {
  if (spansHosts) return directory_->groupFor(spec, member, digest, proxy_->generationFor(spec, digest));
  if (directory_) return directory_->groupFor(spec, member, digest);
  const auto [first, last] = groups_.equal_range(spec.id);
  for (auto it = first; it != last; ++it) {
    if (isToJoin(*it->second, spec, member, digest)) return it->second;
  }
  return groups_.emplace(spec.id, std::make_shared<CollectiveGroup>(spec, digest, arena_, connectors_))->second;
}

std::unique_ptr<Segment::Lock> World::lockSegment() {
  return options_.segment ? std::make_unique<Segment::Lock>(*options_.segment) : nullptr;
}

CollectiveRecord& World::recordOf(const Group& group, uint32_t member) {
  const uint32_t rank = group.spec().ranks[member];
  const uint32_t index = group.indexOf(member);
  return options_.segment ? options_.segment->records(rank)[index] : ranks_[rank]->memory().collectives[index];
}

uint32_t World::registerCollective(uint32_t rank, const CollectiveSpec& spec) {
  checkSpec(spec, rank, size());
  const auto member = static_cast<uint32_t>(std::find(spec.ranks.begin(), spec.ranks.end(), rank) - spec.ranks.begin());
  const std::lock_guard lock(mutex_);
  const bool spansHosts = proxy_ && proxy_->spans(spec.ranks);
  const std::vector<uint8_t> bytes = programOf(spec, member, spansHosts ? options_.network.get() : nullptr);
  uint64_t digest = 0;
  std::shared_ptr<const BoundProgram> program = bind(spec, member, bytes, digest);
  if (spansHosts) checkIsConnected(*program, spec);
  const std::unique_ptr<Segment::Lock> segmentLock = lockSegment();
  std::shared_ptr<Group> group = groupFor(spec, member, digest, spansHosts);

  std::vector<uint32_t>& freeIndices = freeIndices_[rank];
  uint32_t index;
  if (!freeIndices.empty()) {
    index = freeIndices.back();
  } else {
    index = 0;
    while (index < table_[rank].size() && table_[rank][index].group) ++index;
  }
  const uint32_t blockCount = program->header.blockCount;
  const std::optional<uint32_t> firstTask =
      index < table_[rank].size() ? taskTables_[rank].take(blockCount) : std::nullopt;
  if (!firstTask) {
    if (group->isAbandoned()) dropGroup(*group);
    throw Error(dfcclOutOfMemory,
                "Rank " + std::to_string(rank) + " holds as many collectives as its tables allow (" +
                    std::to_string(options_.limits.collectives) + " collectives, " +
                    std::to_string(options_.limits.tasks) + " program blocks).",
                "Unregister collectives that are done, or open the world with larger limits.",
                {{"rank", std::to_string(rank)},
                 {"collectives", std::to_string(options_.limits.collectives)},
                 {"tasks", std::to_string(options_.limits.tasks)}});
  }
  RankMemory& memory = ranks_[rank]->memory();
  CollectiveRecord& record = memory.collectives[index];
  record = CollectiveRecord{};
  record.id = spec.id;
  record.index = index;
  record.member = member;
  record.priority = spec.priority;
  record.type = spec.type;
  record.op = spec.op;
  record.firstTask = *firstTask;
  record.program = program.get();
  const BufferSizes sizes = bufferSizes(spec, member);
  record.workingSetBytes = std::max(sizes.send, sizes.recv) * sizeOf(spec.type) * 2 * spec.ranks.size();
  for (uint32_t block = 0; block < blockCount; ++block) {
    memory.contexts[*firstTask + block] = TaskContext{{}, index, block, blockCount, 0};
    memory.isActive[*firstTask + block] = 0;
  }
  try {
    group->join(member, *program, bytes, spec.scale, record);
    if (spansHosts) {
      const auto shared = std::static_pointer_cast<SharedGroup>(group);
      proxy_->bind(shared, shared->record()->generation, spec, digest, *program, record);
    }
  } catch (...) {
    taskTables_[rank].giveBack(*firstTask, blockCount);
    if (group->isAbandoned()) dropGroup(*group);
    throw;
  }
  if (!freeIndices.empty()) freeIndices.pop_back();
  CollectiveSpec kept = spec;
  kept.program.clear();
  table_[rank][index] = {group, std::move(program), std::move(kept), member};
  ranks_[rank]->resetIssued(index);
  const uint32_t position = options_.segment ? 0 : rank;
  if (position >= activeRanks_.load(order::relaxed)) activeRanks_.store(position + 1, order::release);
  // Runs that were submitted elsewhere and held until now may start.
  pool_.wake();
  return index;
}

void World::dropGroup(Group& group) {
  if (directory_) return directory_->drop(static_cast<SharedGroup&>(group));
  const auto [first, last] = groups_.equal_range(group.spec().id);
  for (auto it = first; it != last; ++it) {
    if (it->second.get() != &group) continue;
    groups_.erase(it);
    return;
  }
}

World::Registered& World::registered(uint32_t rank, uint32_t index) {
  if (index >= table_[rank].size() || !table_[rank][index].group) {
    throw Error(dfcclUnknownCollective,
                "Rank " + std::to_string(rank) + " has no collective with handle " + std::to_string(index) + ".",
                "Register it first; a handle is void after it is unregistered.",
                {{"rank", std::to_string(rank)}, {"handle", std::to_string(index)}});
  }
  return table_[rank][index];
}

bool World::isRegistered(uint32_t rank, uint32_t index) const {
  const std::lock_guard lock(mutex_);
  return index < table_[rank].size() && table_[rank][index].group != nullptr;
}

bool World::isAborted(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  return registered(rank, index).group->shared().isPoisoned();
}

RunShape World::shapeOf(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const Registered& entry = registered(rank, index);
  RunShape shape = runShapeOf(entry.spec, entry.member, entry.program->header);
  if (options_.segment && entry.program->usesDirect()) {
    shape.windowBegin = options_.segment->begin();
    shape.windowEnd = options_.segment->end();
  }
  return shape;
}

CollectiveSpec World::specOf(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  return registered(rank, index).spec;
}

void World::unregisterCollective(uint32_t rank, uint32_t index, uint64_t issuedRuns) {
  const std::lock_guard lock(mutex_);
  Registered& entry = registered(rank, index);
  const CollectiveRecord& record = ranks_[rank]->memory().collectives[index];
  const uint64_t finished = record.finishedRuns.load(order::acquire);
  if (finished != issuedRuns) {
    throw Error(dfcclInUse,
                "Collective " + std::to_string(record.id) + " has " + std::to_string(issuedRuns - finished) +
                    " runs in flight on rank " + std::to_string(rank) + ".",
                "Wait for them, or abort the collective, before you unregister it.",
                {{"id", std::to_string(record.id)},
                 {"rank", std::to_string(rank)},
                 {"inFlight", std::to_string(issuedRuns - finished)}});
  }
  awaitDrop(rank, entry, record);
  const std::unique_ptr<Segment::Lock> segmentLock = lockSegment();
  taskTables_[rank].giveBack(record.firstTask, entry.program->header.blockCount);
  entry.group->leave(entry.member);
  if (proxy_) proxy_->unbind(static_cast<SharedGroup&>(*entry.group), finished);
  if (entry.group->isAbandoned()) dropGroup(*entry.group);
  entry = Registered{};
  freeIndices_[rank].push_back(index);
}

void World::abortCollective(uint32_t rank, uint32_t index) {
  {
    const std::lock_guard lock(mutex_);
    Group& group = *registered(rank, index).group;
    uint32_t nobody = CollectiveShared::kNobody;
    if (!group.shared().poisonedBy.compareExchange(nobody, rank, order::acqRel, order::relaxed)) return;
    const std::vector<uint32_t>& members = group.spec().ranks;
    // Each process tells its own daemon.
    if (watch_) return PeerWatch::alarm(*options_.segment);
    for (uint32_t m = 0; m < members.size(); ++m) {
      if (!group.isMember(m)) {
        // It never registered, or has left: it touches nothing.
        group.shared().abortAcknowledged.fetchAdd(1, order::acqRel);
        continue;
      }
      table_[members[m]][group.indexOf(m)].isDropped = true;
      tellDaemon(members[m], group.indexOf(m));
    }
  }
  pool_.wake();
}

void World::tellDaemon(uint32_t rank, uint32_t index) {
  ControlRing& control = ranks_[rank]->memory().control;
  const uint64_t tail = control.tail.load(order::relaxed);
  while (tail - control.head.load(order::acquire) >= ControlRing::kCapacity) pool_.helpRank(rank);
  control.collectives[tail % ControlRing::kCapacity].store(index, order::relaxed);
  control.tail.store(tail + 1, order::release);
}

/// After an abort: a daemon that hasn't come to it yet would take the next collective with this index for it.
void World::awaitDrop(uint32_t rank, const Registered& entry, const CollectiveRecord& record) {
  const uint32_t blocks = ranks_[rank]->memory().limits.grid;
  while (entry.isDropped && record.blocksDropped.load(order::acquire) < blocks && !ranks_[rank]->hasExited()) {
    if (!pool_.stepRank(rank)) cpuPause();
  }
}

bool World::isLetGo(Group& group) {
  if (!directory_) return group.shared().abortAcknowledged.load(order::acquire) >= group.shared().members;
  for (uint32_t m = 0; m < group.shared().members; ++m) {
    if (!static_cast<SharedGroup&>(group).hasLetGo(m)) return false;
  }
  return true;
}

bool World::isQuarantineOver(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  Group& group = *registered(rank, index).group;
  return group.shared().isPoisoned() && isLetGo(group);
}

void World::leave(uint32_t rank) {
  while (!ranks_[rank]->submitExit()) driveRank(rank);
  while (!ranks_[rank]->hasExited()) driveRank(rank);
}

bool World::synchronize(uint32_t rank, uint64_t timeoutMicros) {
  const uint64_t stay = residentStay(rank);
  if (stay == 0) return true;
  noteSynchronizing(rank, 1);
  const uint64_t begin = readTicks();
  const auto limit = static_cast<uint64_t>(static_cast<double>(timeoutMicros) * ticksPerMicrosecond());
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

std::vector<MemberProgress> World::explain(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  Group& group = *registered(rank, index).group;
  std::vector<MemberProgress> members;
  for (uint32_t m = 0; m < group.spec().ranks.size(); ++m) {
    const uint32_t r = group.spec().ranks[m];
    if (!group.isMember(m)) {
      members.push_back({r, false, 0, 0});
      continue;
    }
    const CollectiveRecord& record = recordOf(group, m);
    members.push_back({r, true, record.submittedRuns.load(order::acquire), record.finishedRuns.load(order::acquire)});
  }
  return members;
}

void World::setWaker(std::function<void(uint32_t)> waker) {
  const std::lock_guard lock(wakerMutex_);
  waker_ = std::move(waker);
}

void World::afterStep(bool hasMoved) {
  if (hasMoved && options_.segment) options_.segment->tellPeers();
  if (hasMoved && proxy_) proxy_->notify();
  for (Rank* rank : locals_) {
    RankMemory& memory = rank->memory();
    if (memory.wakePending.load(order::relaxed) != 0 && memory.wakePending.exchange(0, order::acqRel) != 0) {
      const std::lock_guard lock(wakerMutex_);
      if (waker_) waker_(rank->number());
    }
    if (backgroundDelivery_[rank->number()].load(order::relaxed) != 0) rank->deliver();
  }
}

bool World::hasUnseenWork() const {
  for (const Rank* rank : locals_) {
    const SubmissionRing& ring = rank->memory().submissions;
    if (ring.header->tail.load(order::seqCst) != ring.header->head.load(order::seqCst)) return true;
  }
  return false;
}

bool World::hasUnfinishedWork() const {
  return std::any_of(locals_.begin(), locals_.end(), [](const Rank* rank) { return rank->hasWork(); });
}

CounterReading World::readCounters(uint32_t rank) {
  const RankMemory& memory = ranks_[rank]->memory();
  CounterReading reading{memory.counters, {}};
  for (const BlockMemory& block : memory.blocks) reading.blocks.push_back(block.counters);
  return reading;
}

size_t World::arenaUsedBytes() const {
  const std::lock_guard lock(mutex_);
  if (!options_.segment) return arena_.usedBytes();
  const Segment::Lock segmentLock(*options_.segment);
  return options_.segment->arena().usedBytes();
}

size_t World::memoryBytesOf(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  Registered& entry = registered(rank, index);
  return sizeof(CollectiveRecord) +
         entry.program->header.blockCount * (sizeof(TaskContext) + sizeof(Atomic<uint64_t>)) + sizeof(Registered) +
         (entry.program->memoryBytes() + entry.group->ownBytes() + entry.group->jointBytes()) /
             entry.program->header.rankCount +
         sizeof(Mailbox) + entry.program->scratchBytes +
         entry.group->connectorBytes() / entry.program->header.rankCount;
}

}  // namespace dfccl
