#pragma once
// Receives for which no sender was named: each becomes one from the first member that is seen to have sent.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/atomics.hpp"
#include "matching/matched_group.hpp"
#include "matching/matched_run.hpp"

namespace dfccl {

/// Of one rank, those for which nobody has sent. One thread at a time, but for count() and settle().
class OpenReceives {
 public:
  struct Receive {
    MatchedRun run;
    std::shared_ptr<MatchedGroup> group;
    RequestPart* part;
  };

  void add(Receive receive);
  /// Takes those of a group out.
  std::vector<RequestPart*> takeOf(const MatchedGroup& group);
  uint64_t countOf(const MatchedGroup& group) const;
  /// Any thread. Those that were taken out count until it is said what became of them: whoever sees none any more sees
  /// them in flight, or over.
  uint64_t count() const { return count_.load(order::acquire); }
  /// So many that were taken out have been queued, or are over.
  void settle(uint64_t taken) { count_.fetchSub(taken, order::release); }
  /// Of each signature the oldest is asked for: what comes meanwhile mustn't go to a later one.
  /// @return the first for which isWanted(const Receive&), taken out; nothing: none is.
  template <class IsWanted>
  std::optional<Receive> takeFirst(IsWanted&& isWanted) {
    for (auto alike = alike_.begin(); alike != alike_.end(); ++alike) {
      if (!isWanted(std::as_const(alike->second.front()))) continue;
      Receive taken = std::move(alike->second.front());
      alike->second.pop_front();
      if (alike->second.empty()) alike_.erase(alike);
      return taken;
    }
    return std::nullopt;
  }
  template <class Visit>
  void forEach(Visit&& visit) const {
    for (const auto& [key, waiting] : alike_) {
      for (const Receive& receive : waiting) visit(receive);
    }
  }

 private:
  std::map<CollectiveId, std::deque<Receive>> alike_;  // [id of the signature]: never empty
  Atomic<uint64_t> count_;
};

}  // namespace dfccl
