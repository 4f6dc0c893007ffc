// How a world's ranks register collectives, and unregister them.
#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "cpu/cpu_world.hpp"
#include "world/collective_record.hpp"
#include "world/program_check.hpp"
#include "world/refusals.hpp"
#include "world/selection.hpp"

namespace dfccl {
namespace {

/// The program that a registration brings with it, or the built-in one. @param network where the ranks are on several
/// machines; else null.
std::vector<uint8_t> programOf(const CollectiveSpec& spec, uint32_t member, const Network* network) {
  checkHasProgram(spec);
  if (!spec.program.empty()) return spec.program;
  SelectionFacts facts;
  facts.collective = spec.collective;
  facts.bytes = spec.count * sizeOf(spec.type);
  facts.ranks = static_cast<uint32_t>(spec.ranks.size());
  facts.spansHosts = network != nullptr;
  std::vector<uint32_t> hostOf(spec.ranks.size());
  for (size_t m = 0; facts.spansHosts && m < hostOf.size(); ++m) hostOf[m] = network->hostOf[spec.ranks[m]];
  return buildSelected(select(facts), spec, member, hostOf);
}

}  // namespace

std::shared_ptr<const BoundProgram> CpuWorld::bind(const CollectiveSpec& spec, uint32_t member,
                                                   const std::vector<uint8_t>& bytes, uint64_t& digest) {
  ProgramHeader header{};
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  digest = header.digest;
  std::shared_ptr<const BoundProgram> program = programs_.get(bytes, spec.type, spec.count);
  checkProgram(*program, spec, member);
  checkServesCounts(*program, spec);
  return program;
}

std::shared_ptr<JointRegistration> CpuWorld::registrationFor(const CollectiveSpec& spec, uint32_t member,
                                                             uint64_t digest, bool spansHosts) {
  if (spansHosts) return directory_->registrationFor(spec, member, digest, proxy_->generationFor(spec, digest));
  if (directory_) return directory_->registrationFor(spec, member, digest);
  const auto make = [&] { return std::make_shared<LocalRegistration>(spec, digest, arena_, connectors_); };
  return registrations_.registrationFor(spec, member, digest, make);
}

std::unique_ptr<Segment::Lock> CpuWorld::lockSegment() {
  return options_.segment ? std::make_unique<Segment::Lock>(*options_.segment) : nullptr;
}

uint32_t CpuWorld::registerCollective(uint32_t rank, const CollectiveSpec& spec) {
  checkSpec(spec, rank, size());
  const uint32_t member = memberOf(spec, rank);
  const std::lock_guard lock(mutex_);
  const bool spansHosts = proxy_ && proxy_->spans(spec.ranks);
  if (spansHosts) refuseCountPerRun(spec, "where its ranks are on several machines");
  const std::vector<uint8_t> bytes = programOf(spec, member, spansHosts ? options_.network.get() : nullptr);
  uint64_t digest = 0;
  std::shared_ptr<const BoundProgram> program = bind(spec, member, bytes, digest);
  if (spansHosts) checkIsConnected(*program, spec);
  // Where ranks are processes, buffers may lie in memory of their own.
  const bool mayUseRings = directory_ && !spansHosts && spec.id.isSignature();
  std::unique_ptr<const OwnedRingPlan> rings = mayUseRings ? planRings(spec, member) : nullptr;
  const std::unique_ptr<Segment::Lock> segmentLock = lockSegment();
  std::shared_ptr<JointRegistration> registration = registrationFor(spec, member, digest, spansHosts);

  std::vector<uint32_t>& freeIndices = freeIndices_[rank];
  uint32_t index;
  if (!freeIndices.empty()) {
    index = freeIndices.back();
  } else {
    index = 0;
    while (index < table_[rank].size() && table_[rank][index].registration) ++index;
    if (index == table_[rank].size() && index < options_.limits.collectives) table_[rank].emplace_back();
  }
  const uint32_t blockCount = program->header.blockCount;
  const std::optional<uint32_t> firstTask =
      index < table_[rank].size() ? taskTables_[rank].take(blockCount) : std::nullopt;
  if (!firstTask) {
    if (registration->isAbandoned()) dropRegistration(*registration);
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
  record = describedRecord(spec, index, member, *firstTask);
  record.program = program.get();
  record.rings = rings.get();
  CollectiveSpec kept = spec;
  kept.program.clear();
  CollectiveSpec ofOne = spec;
  if (spec.countPerRun) ofOne.count = 1;
  const BufferSizes sizes = bufferSizes(ofOne, member);
  // What goes into slots or scratch memory is read at once.
  const bool writesResultsOnly = program->connections.empty() && program->scratchBytes == 0;
  if (writesResultsOnly) record.stores = static_cast<CpuRankMemory&>(memory).renewStores(index);
  record.workingSetBytes = std::max(sizes.send, sizes.recv) * sizeOf(spec.type) * 2 * spec.ranks.size();
  for (uint32_t block = 0; block < blockCount; ++block) {
    memory.contexts[*firstTask + block] = TaskContext{{}, index, block, blockCount, 0};
    memory.isActive[*firstTask + block] = 0;
  }
  const bool comesBack = directory_ && static_cast<SharedRegistration&>(*registration).isAway(member);
  try {
    registration->join(member, program, bytes, spec.scale, record);
    if (spansHosts) {
      const auto shared = std::static_pointer_cast<SharedRegistration>(registration);
      proxy_->bind(shared, shared->record()->generation, spec, digest, *program,
                   {record.connections, program->connections.size()}, record);
    }
  } catch (...) {
    taskTables_[rank].giveBack(*firstTask, blockCount);
    // It had joined, and is in no table.
    if (directory_ && registration->isMember(member)) {
      auto& shared = static_cast<SharedRegistration&>(*registration);
      // Who was away is so again. Else others of this machine may count on it already.
      if (comesBack) {
        shared.leave(member, Departure::forNow, record.finishedRuns.load(order::relaxed));
      } else {
        undoJoin(shared, member);
      }
    }
    if (registration->isAbandoned()) dropRegistration(*registration);
    throw;
  }
  if (!freeIndices.empty()) freeIndices.pop_back();
  table_[rank][index] = {registration, std::move(program), std::move(kept), member, std::move(rings)};
  ranks_[rank]->resetIssued(index, registration->runsAtLeaving(member));
  const uint32_t position = options_.segment ? 0 : rank;
  if (position >= activeRanks_.load(order::relaxed)) activeRanks_.store(position + 1, order::release);
  // Runs that were submitted elsewhere and held until now may start.
  pool_.wake();
  return index;
}

void CpuWorld::undoJoin(SharedRegistration& registration, uint32_t member) {
  uint32_t nobody = CollectiveShared::kNobody;
  registration.shared().poisonedBy.compareExchange(nobody, options_.segment->rank(), order::acqRel, order::relaxed);
  registration.leave(member, Departure::forGood, 0);
  registration.finishLeaving(member);
  PeerWatch::alarm(*options_.segment);
}

void CpuWorld::dropRegistration(JointRegistration& registration) {
  if (directory_) return directory_->drop(static_cast<SharedRegistration&>(registration));
  registrations_.drop(registration);
}

CpuWorld::Registered& CpuWorld::registered(uint32_t rank, uint32_t index) {
  if (index >= table_[rank].size() || !table_[rank][index].registration) refuseHandle(rank, index);
  return table_[rank][index];
}

bool CpuWorld::isRegistered(uint32_t rank, uint32_t index) const {
  const std::lock_guard lock(mutex_);
  return index < table_[rank].size() && table_[rank][index].registration != nullptr;
}

void CpuWorld::unregisterCollective(uint32_t rank, uint32_t index, uint64_t issuedRuns, Departure departure) {
  const std::lock_guard lock(mutex_);
  Registered& entry = registered(rank, index);
  const CollectiveRecord& record = ranks_[rank]->memory().collectives[index];
  const uint64_t finished = record.finishedRuns.load(order::acquire);
  if (finished != issuedRuns) refuseInFlight(rank, entry.registration->spec().id, issuedRuns - finished);
  awaitDrop(rank, entry, record);
  const std::unique_ptr<Segment::Lock> segmentLock = lockSegment();
  taskTables_[rank].giveBack(record.firstTask, entry.program->header.blockCount);
  const bool spansHosts = proxy_ && proxy_->spans(entry.spec.ranks);
  // Nobody goes back to what was given up.
  if (spansHosts && entry.registration->isPoisoned()) departure = Departure::forGood;
  entry.registration->leave(entry.member, departure, finished);
  if (spansHosts) proxy_->unbind(static_cast<SharedRegistration&>(*entry.registration), finished, departure);
  if (entry.registration->isAbandoned()) dropRegistration(*entry.registration);
  entry = Registered{};
  freeIndices_[rank].push_back(index);
}

}  // namespace dfccl
