#include "network/quorum_agreement.hpp"

#include <algorithm>
#include <utility>

namespace dfccl {
namespace {

// Two that propose at once refuse each other; the one who waits for longer lets the other through.
constexpr uint64_t kShortestPauseMillis = 4;
constexpr uint32_t kMostDoublings = 7;

}  // namespace

QuorumAgreement::QuorumAgreement(uint32_t rank, std::vector<uint32_t> hostOf, Acceptor acceptor, Send send,
                                 const Options& options)
    : rank_(rank),
      hostOf_(std::move(hostOf)),
      acceptor_(acceptor),
      send_(std::move(send)),
      options_(options),
      random_(options.seed),
      reports_(hostOf_.size()) {}

void QuorumAgreement::step(uint64_t now) {
  tellDecision();
  // Who was given up won't come, and nobody should wait for that.
  if (isUnderWay() || reports_[rank_].lost.has(rank_)) tellComing();
  if (!isUnderWay()) return;
  if (!acceptor_.voters().has(rank_) || leader() != rank_ || !missing().empty()) {
    phase_ = Phase::none;
    return;
  }
  if (agreementOf(proposal_.ballot) != acceptor_.decided() + 1) phase_ = Phase::none;
  if (phase_ != Phase::none || now < notBefore_) return;
  // What one has noticed first need not be a broken link: once all have noticed a death, nobody is apart for it.
  if (const RankSet seen = apart(); seen != apart_) {
    apart_ = seen;
    apartSince_ = now;
  }
  if (apart_ != RankSet{} && now < apartSince_ + options_.noticeMillis) return;
  choice_ = choose();
  phase_ = Phase::preparing;
  const uint64_t agreement = acceptor_.decided() + 1;
  if (agreementOf(acceptor_.promised()) == agreement)
    highestRound_ = std::max(highestRound_, roundOf(acceptor_.promised()));
  proposal_ = {};
  proposal_.kind = VoteKind::prepare;
  proposal_.agreement = agreement;
  proposal_.ballot = ballotOf(agreement, ++highestRound_, rank_);
  proposal_.ranks = acceptor_.voters();
  highestAccepted_ = 0;
  broadcastAndHear(proposal_, now);
}

/// By everybody, so that nobody depends on the proposer's life, nor on a link to it.
void QuorumAgreement::tellDecision() {
  if (toldDecision_ == acceptor_.decided()) return;
  toldDecision_ = acceptor_.decided();
  broadcast(acceptor_.decision());
}

void QuorumAgreement::tellComing() {
  const Report& own = reports_[rank_];
  if (toldComing_.cameTo == own.cameTo && toldComing_.lost == own.lost) return;
  toldComing_ = own;
  Vote vote;
  vote.kind = VoteKind::came;
  vote.agreement = own.cameTo;
  vote.ranks = own.lost;
  broadcast(vote);
}

void QuorumAgreement::broadcast(const Vote& vote) {
  for (uint32_t r = 0; r < hostOf_.size(); ++r) {
    if (hostOf_[r] != hostOf_[rank_] && !reports_[rank_].lost.has(r)) send_(r, vote);
  }
}

void QuorumAgreement::broadcastAndHear(const Vote& vote, uint64_t now) {
  answered_.assign(hostOf_.size(), false);
  broadcast(vote);
  if (const auto own = acceptor_.answer(vote)) hearAnswer(hostOf_[rank_], *own, now);
}

void QuorumAgreement::hear(uint32_t from, const Vote& vote, uint64_t now) {
  if (!vote.ranks.isWithin(static_cast<uint32_t>(hostOf_.size()))) return;
  switch (vote.kind) {
    case VoteKind::came:
      reports_[from] = {vote.agreement, vote.ranks};
      break;
    case VoteKind::prepare:
    case VoteKind::accept:
      if (const auto answer = acceptor_.answer(vote)) send_(from, *answer);
      break;
    case VoteKind::promise:
    case VoteKind::accepted:
      hearAnswer(hostOf_[from], vote, now);
      break;
    case VoteKind::decided:
      acceptor_.adopt(vote.agreement, vote.ranks);
      break;
  }
}

void QuorumAgreement::hearAnswer(uint32_t host, const Vote& answer, uint64_t now) {
  // Decided meanwhile: those who vote now aren't those whom it was proposed to.
  if (acceptor_.decided() + 1 != proposal_.agreement) phase_ = Phase::none;
  if (phase_ == Phase::none || answer.agreement != proposal_.agreement || answer.kind == VoteKind::decided) return;
  if (answer.ballot > proposal_.ballot) {
    highestRound_ = std::max(highestRound_, roundOf(answer.ballot));
    phase_ = Phase::none;
    const uint64_t most = kShortestPauseMillis << std::min(refusals_++, kMostDoublings);
    notBefore_ = now + std::uniform_int_distribution<uint64_t>(1, most)(random_);
    return;
  }
  const VoteKind expected = phase_ == Phase::preparing ? VoteKind::promise : VoteKind::accepted;
  if (answer.ballot != proposal_.ballot || answer.kind != expected) return;
  answered_[host] = true;
  if (phase_ == Phase::preparing && answer.accepted > highestAccepted_) {
    highestAccepted_ = answer.accepted;
    proposal_.ranks = answer.ranks;
  }
  if (!isQuorum(answered_)) return;
  if (phase_ == Phase::preparing) {
    if (highestAccepted_ == 0) proposal_.ranks = choice_;
    phase_ = Phase::accepting;
    proposal_.kind = VoteKind::accept;
    broadcastAndHear(proposal_, now);
    return;
  }
  phase_ = Phase::none;
  refusals_ = 0;
  acceptor_.adopt(proposal_.agreement, proposal_.ranks);
  tellDecision();
}

/// By what this rank sees, or that rank or another one of its machine says: they have it from the system.
bool QuorumAgreement::isLost(uint32_t rank) const {
  if (reports_[rank_].lost.has(rank) || reports_[rank].lost.has(rank)) return true;
  for (uint32_t mate = 0; mate < hostOf_.size(); ++mate) {
    if (hostOf_[mate] == hostOf_[rank] && mate != rank && hasCome(mate) && reports_[mate].lost.has(rank)) return true;
  }
  return false;
}

std::vector<uint32_t> QuorumAgreement::missing() const {
  std::vector<uint32_t> ranks = acceptor_.voters().list();
  std::erase_if(ranks, [&](uint32_t r) { return hasCome(r) || isLost(r); });
  return ranks;
}

std::optional<uint32_t> QuorumAgreement::leader() const {
  for (const uint32_t r : acceptor_.voters().list()) {
    if (!isLost(r) && (!hasCome(r) || reachesQuorum(reports_[r].lost))) return r;
  }
  return std::nullopt;
}

bool QuorumAgreement::isCutOff() const { return isUnderWay() && acceptor_.voters().has(rank_) && !leader(); }

std::vector<uint32_t> QuorumAgreement::awaited() const {
  if (!isUnderWay() || !acceptor_.voters().has(rank_)) return {};
  std::vector<uint32_t> ranks = missing();
  const auto proposer = leader();
  if (!ranks.empty() || !proposer) return ranks;
  if (proposer != rank_) return {*proposer};
  if (phase_ != Phase::none) {
    ranks = acceptor_.voters().list();
    std::erase_if(ranks, [&](uint32_t r) { return answered_[hostOf_[r]] || isLost(r); });
  } else {
    ranks = apart_.list();
  }
  return ranks.empty() ? std::vector<uint32_t>{rank_} : ranks;
}

bool QuorumAgreement::isQuorum(const Hosts& hosts) const {
  const std::vector<uint32_t> voters = acceptor_.voters().list();
  const auto there = std::count_if(voters.begin(), voters.end(), [&](uint32_t r) { return hosts[hostOf_[r]]; });
  const auto twice = 2 * static_cast<size_t>(there);
  return !options_.needsQuorum || twice > voters.size() || (twice == voters.size() && hosts[hostOf_[voters.front()]]);
}

bool QuorumAgreement::reachesQuorum(const RankSet& lost) const {
  Hosts hosts(hostOf_.size());
  for (const uint32_t r : acceptor_.voters().list()) {
    if (!lost.has(r)) hosts[hostOf_[r]] = true;
  }
  return isQuorum(hosts);
}

std::vector<uint32_t> QuorumAgreement::candidates() const {
  std::vector<uint32_t> ranks = acceptor_.voters().list();
  std::erase_if(ranks, [&](uint32_t r) { return !hasCome(r) || isLost(r); });
  return ranks;
}

RankSet QuorumAgreement::apart() const {
  const std::vector<uint32_t> ranks = candidates();
  RankSet set{};
  for (const uint32_t a : ranks) {
    if (std::any_of(ranks.begin(), ranks.end(), [&](uint32_t b) { return areApart(a, b); })) set.add(a);
  }
  return set;
}

/// A rank that others have lost can't go on with them. Of every two, the one that more have lost stays behind.
RankSet QuorumAgreement::choose() const {
  std::vector<uint32_t> ranks = candidates();
  for (;;) {
    size_t most = 0, worst = 0;
    for (size_t i = 0; i < ranks.size(); ++i) {
      const auto lost = static_cast<size_t>(
          std::count_if(ranks.begin(), ranks.end(), [&](uint32_t r) { return areApart(ranks[i], r); }));
      if (lost != 0 && lost >= most) {
        most = lost;
        worst = i;
      }
    }
    if (most == 0) return RankSet::of(ranks);
    ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(worst));
  }
}

}  // namespace dfccl
