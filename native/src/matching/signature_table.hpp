#pragma once
// A rank's registrations of signatures: made at the first use, forgotten when they have long been unused and their
// places are needed. One thread at a time.
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>

#include "matching/matched_collective.hpp"
#include "world/backend.hpp"

namespace dfccl {

class SignatureTable {
 public:
  /// @param ended gets each registration that was given up and is forgotten: no other rank touches what its runs were
  /// given.
  SignatureTable(Backend& backend, uint32_t rank, std::function<void(uint64_t registration)> ended);

  /// The registration of a signature, made if there is none. Never waits for another rank.
  /// @throws Error dfcclOutOfMemory where all places are taken by what is in flight; dfcclInvalidArgument
  MatchedCollective& get(const Signature& signature, const std::shared_ptr<MatchedGroup>& group);
  /// @return nullptr: it isn't registered, or not any more.
  MatchedCollective* find(const CollectiveId& id) const;
  /// Forgets what belongs to a group, as far as nothing of it is in flight; the rest when its place is needed.
  void forget(const MatchedGroup& group);
  /// All of it. @pre nothing is in flight.
  void clear();
  /// Runs of it that this rank has submitted and that aren't over, and those about to be.
  uint64_t inFlight(const MatchedCollective& entry) const;
  template <class Visit>
  void forEach(Visit&& visit) {
    for (auto& [id, entry] : entries_) visit(*entry);
  }

 private:
  struct HashOfId {
    size_t operator()(const CollectiveId& id) const { return id.low; }
  };

  static constexpr uint32_t kRecent = 64;
  static uint32_t recentPlaceOf(const Signature& signature);

  MatchedCollective& add(const CollectiveId& id, const Signature& signature,
                         const std::shared_ptr<MatchedGroup>& group);
  uint32_t registerOne(const CollectiveSpec& spec);
  bool forgetOldest();
  void boundMessages(const MatchedCollective& added);
  void keepReserve(MatchedCollective& added);
  void noteMessageBytes(const MatchedCollective& entry, bool isAdded);
  void strike(MatchedCollective& entry, bool isAborted);
  bool isAnyAborted() const;
  bool forget(MatchedCollective& entry, Departure departure);

  Backend& backend_;
  const uint32_t rank_;
  const size_t most_;  // kept beside one another
  const std::function<void(uint64_t)> ended_;
  std::unordered_map<CollectiveId, std::unique_ptr<MatchedCollective>, HashOfId> entries_;
  std::list<MatchedCollective*> used_;                   // the latest first
  std::unordered_map<uint32_t, uint64_t> messageBytes_;  // of each rank's memory, what messages take
  uint64_t memoryBytes_ = 0;                             // of all that is registered
  uint64_t registered_ = 0;                              // ever
  MatchedCollective* recent_[kRecent] = {};              // found without computing an id; each at its place, or null
};

}  // namespace dfccl
