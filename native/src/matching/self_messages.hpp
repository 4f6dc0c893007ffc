#pragma once
// Messages of a rank to itself, each in two halves: what is sent, and where it goes.
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "matching/matched_group.hpp"
#include "matching/request.hpp"

namespace dfccl {

/// Of one rank, those whose other half is missing. One thread at a time.
class SelfMessages {
 public:
  struct Half {
    Signature signature;
    const void* send;
    void* recv;
    void* stream;  // it must last until the other half comes
    RequestPart* part;
    std::shared_ptr<MatchedGroup> group;
  };

  /// @param key the signature's id. @return the other half, the oldest that there is, taken out; nothing: this waits.
  std::optional<Half> meet(const CollectiveId& key, bool isSend, const Half& half);
  /// The half that such a one would meet, which stays; nullptr: none.
  const Half* facing(const CollectiveId& key, bool isSend) const;
  /// One that was taken out waits again, before all others. @pre no half in the other role has come since
  void putBack(const CollectiveId& key, bool isSend, const Half& half);
  /// Whether one is sent that nobody receives.
  bool hasSend(const CollectiveId& key) const {
    const auto found = halves_.find(key);
    return found != halves_.end() && found->second.areSends;
  }
  /// visit(const Signature&, whether it is sent) for each.
  template <class Visit>
  void forEach(Visit&& visit) const {
    for (const auto& [key, halves] : halves_) {
      for (const Half& half : halves.waiting) visit(half.signature, halves.areSends);
    }
  }
  /// Takes those of a group out.
  std::vector<RequestPart*> takeOf(const MatchedGroup& group);
  uint64_t countOf(const MatchedGroup& group) const;
  size_t count() const;

 private:
  /// Of one signature: all in the same role.
  struct Halves {
    bool areSends = false;
    std::deque<Half> waiting;
  };

  std::map<CollectiveId, Halves> halves_;
};

}  // namespace dfccl
