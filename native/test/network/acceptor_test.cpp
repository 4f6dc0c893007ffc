// What a machine promises and accepts, and what of it outlives whoever writes.
#include <doctest/doctest.h>

#include <vector>

#include "network/quorum_agreement.hpp"

using namespace dfccl;

namespace {
using List = std::vector<uint32_t>;
}

TEST_CASE("an acceptance that its writer didn't live to finish is none") {
  SharedDecision decision{};
  SharedBallots ballots{};
  Acceptor acceptor(decision, ballots, 4);
  const auto proposal = [](VoteKind kind, Ballot ballot, const List& ranks) {
    Vote vote;
    vote.kind = kind;
    vote.agreement = 1;
    vote.ballot = ballot;
    vote.ranks = RankSet::of(ranks);
    return vote;
  };
  REQUIRE(acceptor.answer(proposal(VoteKind::accept, ballotOf(1, 1, 0), {0, 1, 2}))->kind == VoteKind::accepted);
  ballots.accepted[ballots.last.load(order::relaxed) ^ 1] = {ballotOf(1, 2, 1), RankSet::of({3})};
  const auto promise = acceptor.answer(proposal(VoteKind::prepare, ballotOf(1, 3, 2), {0, 1, 2, 3}));
  CHECK(promise->accepted == ballotOf(1, 1, 0));
  CHECK(promise->ranks == RankSet::of({0, 1, 2}));
  // Control: the last one is whole, and counts.
  ballots.last.store(ballots.last.load(order::relaxed) ^ 1, order::relaxed);
  CHECK(acceptor.answer(proposal(VoteKind::prepare, ballotOf(1, 4, 2), {0, 1, 2, 3}))->ranks == RankSet::of({3}));
}

TEST_CASE(
    "a machine that has promised a later ballot refuses an earlier one, and one that knows the decision tells it") {
  SharedDecision decision{};
  SharedBallots ballots{};
  Acceptor acceptor(decision, ballots, 2);
  Vote vote;
  vote.kind = VoteKind::prepare;
  vote.agreement = 1;
  vote.ballot = ballotOf(1, 2, 0);
  vote.ranks = acceptor.voters();
  CHECK(acceptor.answer(vote)->ballot == vote.ballot);
  vote.kind = VoteKind::accept;
  vote.ballot = ballotOf(1, 1, 1);
  CHECK(acceptor.answer(vote)->ballot == ballotOf(1, 2, 0));
  acceptor.adopt(1, RankSet::of({1}));
  CHECK(acceptor.answer(vote)->kind == VoteKind::decided);
  CHECK(acceptor.answer(vote)->ranks == RankSet::of({1}));
  CHECK(acceptor.voters() == RankSet::of({1}));
}
