#pragma once
// One machine's memory of an agreement between machines: what it has promised, accepted and learned. It lies in the
// memory that the machine's ranks share, so it outlives every one of them but the last; whoever of them hears a
// proposal answers for all.
#include <cstdint>
#include <optional>

#include "network/vote.hpp"
#include "processes/segment.hpp"

namespace dfccl {

class Acceptor {
 public:
  Acceptor(SharedDecision& decision, SharedBallots& ballots, uint32_t ranks)
      : decision_(decision), ballots_(ballots), ranks_(ranks) {}

  /// All: under the lock of that memory. Whoever dies inside has either done it or not.

  /// Answers a prepare or an accept. @return nothing where it can't, as it is behind.
  std::optional<Vote> answer(const Vote& proposal);
  /// Takes a decision over, if it is news.
  void adopt(uint64_t agreement, const RankSet& survivors);

  /// Agreements that are decided, as is known here.
  uint64_t decided() const { return decision_.number.load(order::acquire); }
  /// Who votes in the next one: the survivors of the last.
  RankSet voters() const;
  Ballot promised() const { return ballots_.promised.load(order::relaxed); }
  /// What is known here to be decided, to be told.
  Vote decision() const;

 private:
  SharedDecision& decision_;
  SharedBallots& ballots_;
  uint32_t ranks_;
};

}  // namespace dfccl
