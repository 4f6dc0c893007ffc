#include "network/acceptor.hpp"

namespace dfccl {

RankSet Acceptor::voters() const {
  if (decided() != 0) return decision_.of(decided());
  RankSet all{};
  for (uint32_t r = 0; r < ranks_; ++r) all.add(r);
  return all;
}

Vote Acceptor::decision() const {
  Vote vote;
  vote.kind = VoteKind::decided;
  vote.agreement = decided();
  vote.ranks = voters();
  return vote;
}

void Acceptor::adopt(uint64_t agreement, const RankSet& survivors) {
  if (agreement <= decided()) return;
  decision_.of(agreement) = survivors;
  // Last, as in processes/agreement.cpp.
  decision_.number.store(agreement, order::release);
}

std::optional<Vote> Acceptor::answer(const Vote& proposal) {
  const bool isPrepare = proposal.kind == VoteKind::prepare;
  // Its proposer has read that decision, which may not have come here yet.
  if (isPrepare && proposal.agreement != 0) adopt(proposal.agreement - 1, proposal.ranks);
  if (decided() >= proposal.agreement) return decision();
  if (decided() + 1 != proposal.agreement || agreementOf(proposal.ballot) != proposal.agreement) return std::nullopt;
  Vote answer;
  answer.agreement = proposal.agreement;
  if (proposal.ballot >= promised()) {
    ballots_.promised.store(proposal.ballot, order::relaxed);
    if (!isPrepare) {
      const uint32_t next = ballots_.last.load(order::relaxed) ^ 1;
      ballots_.accepted[next] = {proposal.ballot, proposal.ranks};
      // Last: whoever dies before this line leaves what was accepted before.
      ballots_.last.store(next, order::release);
    }
  }
  answer.kind = isPrepare ? VoteKind::promise : VoteKind::accepted;
  answer.ballot = promised();
  const SharedBallots::Accepted& last = ballots_.accepted[ballots_.last.load(order::relaxed)];
  if (isPrepare && agreementOf(last.ballot) == proposal.agreement) {
    answer.accepted = last.ballot;
    answer.ranks = last.survivors;
  }
  return answer;
}

}  // namespace dfccl
