#include "matching/signature_table.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace dfccl {
namespace {

// Of a rank's tables: the rest is left to ids that the caller registers.
constexpr double kShare = 0.75;

CollectiveSpec specOf(const CollectiveId& id, const Signature& signature, const MatchedGroup& group) {
  CollectiveSpec spec;
  spec.id = id;
  spec.collective = signature.collective;
  spec.type = signature.type;
  spec.op = signature.op;
  spec.count = signature.count;
  spec.signature = {signature.purpose, signature.tag, signature.graph};
  if (signature.isCaptured()) spec.mostBlocks = group.mostBlocksInStreams;
  if (signature.collective == Collective::sendRecv && signature.root == signature.receiver) {
    spec.collective = Collective::broadcast;  // a copy, by a rank alone
    spec.ranks = {group.ranks[signature.root]};
  } else if (signature.collective == Collective::sendRecv) {
    spec.ranks = {group.ranks[signature.root], group.ranks[signature.receiver]};
    spec.root = 0;
  } else {
    spec.ranks = group.ranks;
    spec.root = signature.root;
  }
  return spec;
}

/// The limit of a rank's tables, as somebody meets it who has registered nothing and has nothing to unregister.
/// @param refused by the engine. @param calls different ones in flight
[[noreturn]] void refuseCall(const Error& refused, uint32_t rank, size_t calls, const RankLimits& limits) {
  // Whatever else memory was too short for, connectors say, has a remedy of its own.
  const auto isOfTables = [](const auto& fact) { return fact.first == "collectives"; };
  if (std::ranges::none_of(refused.facts(), isOfTables)) throw;
  Error::Facts facts = refused.facts();
  facts.emplace_back("calls", std::to_string(calls));
  throw Error(dfcclOutOfMemory,
              "Rank " + std::to_string(rank) + " has " + std::to_string(calls) +
                  " different calls in flight, and no place for another one in its tables (" +
                  std::to_string(limits.collectives) + " collectives, " + std::to_string(limits.tasks) +
                  " program blocks).",
              "Wait for some of them, or open the world with larger limits: collectives and tasks.", std::move(facts));
}

}  // namespace

SignatureTable::SignatureTable(Backend& backend, uint32_t rank, std::function<void(uint64_t registration)> ended)
    : backend_(backend),
      rank_(rank),
      most_(std::max<size_t>(1, static_cast<size_t>(kShare * backend.options().limits.collectives))),
      ended_(std::move(ended)) {}

MatchedCollective& SignatureTable::get(const Signature& signature, const std::shared_ptr<MatchedGroup>& group) {
  MatchedCollective*& recent = recent_[recentPlaceOf(signature)];
  if (recent == nullptr || !(recent->signature == signature)) {
    const CollectiveId id = idOf(signature);
    const auto found = entries_.find(id);
    // It may forget what lies at this place.
    MatchedCollective* const entry = found != entries_.end() ? found->second.get() : &add(id, signature, group);
    recent = entry;
  }
  if (recent->place != used_.begin()) used_.splice(used_.begin(), used_, recent->place);
  return *recent;
}

MatchedCollective* SignatureTable::find(const CollectiveId& id) const {
  const auto found = entries_.find(id);
  return found != entries_.end() ? found->second.get() : nullptr;
}

uint32_t SignatureTable::recentPlaceOf(const Signature& s) {
  const uint64_t facts =
      s.group.low ^ s.graph ^ s.countsHash ^ s.count * 0x9e3779b97f4a7c15 ^ s.tag * 0xd1342543de82ef95 ^
      (uint64_t{static_cast<uint32_t>(s.collective)} << 32 | s.root << 16 | s.receiver) * 0xbf58476d1ce4e5b9;
  return static_cast<uint32_t>((facts * 0x94d049bb133111eb) >> 58);
}

MatchedCollective& SignatureTable::add(const CollectiveId& id, const Signature& signature,
                                       const std::shared_ptr<MatchedGroup>& group) {
  while (entries_.size() >= most_ && forgetOldest()) {
  }
  auto made = std::make_unique<MatchedCollective>();
  MatchedCollective& entry = *made;
  entry.signature = signature;
  entry.group = group;
  entry.registration = ++registered_;
  entry.index = registerOne(specOf(id, signature, *group));
  try {
    entry.shape = backend_.shapeOf(rank_, entry.index);
    entry.windowBegin = std::exchange(entry.shape.windowBegin, RunShape().windowBegin);
    entry.windowEnd = std::exchange(entry.shape.windowEnd, RunShape().windowEnd);
    used_.push_front(&entry);
    entry.place = used_.begin();
    entries_.emplace(id, std::move(made));
    noteMessageBytes(entry, true);
  } catch (...) {
    if (!used_.empty() && used_.front() == &entry) used_.pop_front();
    backend_.unregisterCollective(rank_, entry.index, backend_.queues(rank_).issuedOf(entry.index), Departure::forNow);
    throw;
  }
  boundMessages(entry);
  keepReserve(entry);
  return entry;
}

void SignatureTable::noteMessageBytes(const MatchedCollective& entry, bool isAdded) {
  if (entry.shape.messageBytes == 0) return;
  uint64_t& bytes = messageBytes_[entry.receivingRank()];
  bytes = isAdded ? bytes + entry.shape.messageBytes : bytes - entry.shape.messageBytes;
}

/// A message's memory is its receiver's, which can't free it alone: so whoever sends forgets the oldest, too.
void SignatureTable::boundMessages(const MatchedCollective& added) {
  if (added.shape.messageBytes == 0) return;
  const uint32_t receiver = added.receivingRank();
  const uint64_t most = backend_.mostMessageBytes(rank_, receiver);
  for (auto at = used_.end(); at != used_.begin() && messageBytes_[receiver] > most;) {
    MatchedCollective& entry = **--at;
    const bool isOne = &entry != &added && entry.shape.messageBytes != 0 && entry.receivingRank() == receiver;
    const auto behind = std::next(at);
    if (isOne && forget(entry, Departure::forNow)) at = behind;
  }
}

/// What is given back serves others once the daemon has cleared it, which nobody should have to wait for: so old ones
/// go before the room is too little for some more like the one just added. Not for its sake alone: those that take
/// turns in what is left beside what graphs hold, or other ranks, would push each other out each time.
void SignatureTable::keepReserve(MatchedCollective& added) {
  constexpr uint64_t kPart = 4, kLikeIt = 8;
  constexpr uint32_t kMostAtOnce = 8;
  uint64_t free = backend_.freeMemoryBytes(rank_);
  if (free == UINT64_MAX) return;
  added.memoryBytes = backend_.memoryBytesOf(rank_, added.index);
  memoryBytes_ += added.memoryBytes;
  const uint64_t wanted = std::min(memoryBytes_ / kPart, kLikeIt * added.memoryBytes);
  uint32_t gone = 0;
  for (auto at = used_.end(); at != used_.begin() && free < wanted && gone < kMostAtOnce;) {
    MatchedCollective& entry = **--at;
    const auto behind = std::next(at);
    if (&entry == &added || entry.signature.isOfGraphs() || !forget(entry, Departure::forNow)) continue;
    at = behind;
    ++gone;
    const uint64_t before = std::exchange(free, backend_.freeMemoryBytes(rank_));
    if (free <= before) return;  // other ranks have it still
  }
}

uint32_t SignatureTable::registerOne(const CollectiveSpec& spec) {
  // What was aborted is over when two looks, a little apart, say so.
  constexpr uint32_t kLooks = 5;
  constexpr auto kBetweenLooks = std::chrono::microseconds(1100);
  for (uint32_t looks = 0;;) {
    try {
      return backend_.registerCollective(rank_, spec);
    } catch (const Error& error) {
      if (error.status() != dfcclOutOfMemory) throw;
      if (forgetOldest()) continue;
      if (looks++ == kLooks || !isAnyAborted()) refuseCall(error, rank_, entries_.size(), backend_.options().limits);
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

bool SignatureTable::isAnyAborted() const {
  return std::ranges::any_of(used_, [&](const auto* entry) { return backend_.isAborted(rank_, entry->index); });
}

uint64_t SignatureTable::inFlight(const MatchedCollective& entry) const {
  return entry.pins + backend_.queues(rank_).undeliveredOf(entry.index);
}

/// @return false: every one has runs in flight.
bool SignatureTable::forgetOldest() {
  for (auto at = used_.rbegin(); at != used_.rend(); ++at) {
    if (forget(**at, Departure::forNow)) return true;
  }
  return false;
}

/// @return whether it could be.
bool SignatureTable::forget(MatchedCollective& entry, Departure departure) {
  if (inFlight(entry) != 0) return false;
  const bool isAborted = backend_.isAborted(rank_, entry.index);
  if (isAborted && !backend_.isQuarantineOver(rank_, entry.index)) return false;
  try {
    backend_.unregisterCollective(rank_, entry.index, backend_.queues(rank_).issuedOf(entry.index), departure);
  } catch (const Error& error) {
    if (error.status() == dfcclInUse) return false;  // its daemon isn't done with it
    throw;
  }
  strike(entry, isAborted);
  return true;
}

/// The backend has it no more.
void SignatureTable::strike(MatchedCollective& entry, bool isAborted) {
  if (isAborted) ended_(entry.registration);
  noteMessageBytes(entry, false);
  memoryBytes_ -= entry.memoryBytes;
  used_.erase(entry.place);
  if (MatchedCollective*& recent = recent_[recentPlaceOf(entry.signature)]; recent == &entry) recent = nullptr;
  entries_.erase(idOf(entry.signature));
}

void SignatureTable::forget(const MatchedGroup& group) {
  std::vector<MatchedCollective*> mine;
  for (auto& [id, entry] : entries_) {
    if (entry->group.get() == &group) mine.push_back(entry.get());
  }
  for (MatchedCollective* entry : mine) forget(*entry, Departure::forGood);
}

void SignatureTable::clear() {
  while (!used_.empty()) {
    MatchedCollective& entry = *used_.front();
    const bool isAborted = backend_.isAborted(rank_, entry.index);
    backend_.unregisterCollective(rank_, entry.index, backend_.queues(rank_).issuedOf(entry.index));
    strike(entry, isAborted);
  }
}

}  // namespace dfccl
