#pragma once
// Ranks of several machines that agree, without processes or a network: what happens when is for the test to say.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "network/quorum_agreement.hpp"

namespace dfccl::test {

/// What is left out, for controls.
struct Without {
  bool memory = false;    // machines forget what they have promised and accepted
  bool quorum = false;    // whoever proposes needs nobody's consent
  bool patience = false;  // nobody gets time to notice a death
};

inline constexpr uint64_t kNoticeMillis = 500;

class SimulatedHosts {
 public:
  SimulatedHosts(uint32_t hosts, uint32_t ranksEach, unsigned seed, Without without = {},
                 uint64_t noticeMillis = kNoticeMillis)
      : without_(without), random_(seed) {
    const uint32_t size = hosts * ranksEach;
    for (uint32_t r = 0; r < size; ++r) hostOf_.push_back(r / ranksEach);
    for (uint32_t h = 0; h < hosts; ++h) hosts_.push_back(std::make_unique<Host>());
    for (uint32_t r = 0; r < size; ++r) {
      Host& host = *hosts_[hostOf_[r]];
      ranks_.push_back(std::make_unique<Rank>());
      ranks_[r]->agreement = std::make_unique<QuorumAgreement>(
          r, hostOf_, Acceptor(host.decision, host.ballots, size),
          [this, r](uint32_t to, const Vote& vote) { send(r, to, vote); },
          QuorumAgreement::Options{without.patience ? 0 : noticeMillis, seed + r, !without.quorum});
    }
  }

  uint32_t size() const { return static_cast<uint32_t>(ranks_.size()); }
  bool isAlive(uint32_t rank) const { return ranks_[rank]->isAlive; }
  /// It has learned that the others go on without it.
  bool isExcluded(uint32_t rank) const { return ranks_[rank]->isExcluded; }
  QuorumAgreement& agreementOf(uint32_t rank) { return *ranks_[rank]->agreement; }
  /// `[agreement - 1]`: the lists that it has read.
  const std::vector<std::vector<uint32_t>>& listsOf(uint32_t rank) const { return ranks_[rank]->lists; }

  /// Comes to the next agreement, once it has the last one's answer.
  void come(uint32_t rank) {
    Rank& r = *ranks_[rank];
    if (r.isAlive && !r.isExcluded) r.cameTo = r.lists.size() + 1;
  }
  /// Of what it has sent something may still arrive; then its machine's others and its links notice.
  void kill(uint32_t rank) {
    ranks_[rank]->isAlive = false;
    for (uint32_t to = 0; to < size(); ++to) {
      std::deque<Vote>& sent = links_[{rank, to}];
      sent.resize(sent.empty() ? 0 : random_() % (sent.size() + 1));
    }
  }
  /// It does nothing until it goes on; whoever notices gives it up.
  void stop(uint32_t rank) { ranks_[rank]->isStopped = true; }
  void goOn(uint32_t rank) { ranks_[rank]->isStopped = false; }
  /// Nothing goes between them any more, which both notice some time.
  void cut(uint32_t a, uint32_t b) {
    cuts_.insert({a, b});
    cuts_.insert({b, a});
    links_[{a, b}].clear();
    links_[{b, a}].clear();
  }
  void cutHosts(uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < size(); ++i) {
      for (uint32_t j = 0; j < size(); ++j) {
        if (hostOf_[i] == a && hostOf_[j] == b) cut(i, j);
      }
    }
  }

  /// One thing that may happen now, of all ranks.
  void happen() {
    const auto rank = static_cast<uint32_t>(random_() % size());
    const auto other = static_cast<uint32_t>(random_() % size());
    switch (random_() % 4) {
      case 0:
        return step(rank);
      case 1:
        return notice(rank, other);
      default:
        return deliver(other, rank);
    }
  }
  /// Everything that is still to happen; nobody is stopped any more.
  void settle() {
    for (uint32_t r = 0; r < size(); ++r) goOn(r);
    for (int round = 0; round < 400; ++round) {
      for (uint32_t a = 0; a < size(); ++a) {
        for (uint32_t b = 0; b < size(); ++b) {
          while (!links_[{b, a}].empty() && isAlive(a)) deliver(b, a);
          notice(a, b);
        }
        step(a);
      }
      now_ += 1 + random_() % 20;
    }
  }
  /// Does what is to be done by now, with what its machine's ranks say.
  void step(uint32_t rank) {
    if (!runs(rank)) return;
    now_ += random_() % 3;
    report(rank);
    agreementOf(rank).step(now_);
    forget(rank);
    read(rank);
  }

  /// The next of what is on its way.
  void deliver(uint32_t from, uint32_t to) {
    std::deque<Vote>& link = links_[{from, to}];
    if (link.empty() || !runs(to)) return;
    const Vote vote = link.front();
    link.pop_front();
    report(to);
    agreementOf(to).hear(from, vote, now_);
    forget(to);
  }

  /// A link says that it is lost once what came over it is heard; who isn't sent to any more notices that, too.
  void notice(uint32_t rank, uint32_t other) {
    if (!runs(rank)) return;
    const bool isSilent = ranks_[other]->isStopped && isAlive(other);
    if (hostOf_[rank] == hostOf_[other]) {
      if (isSilent) hostOf(rank).silent.add(other);
      return;
    }
    const bool isCut = cuts_.contains({rank, other}) || !isAlive(other) || ranks_[other]->lost.has(rank);
    if ((isSilent || isCut) && links_[{other, rank}].empty()) ranks_[rank]->lost.add(other);
  }

 private:
  struct Host {
    SharedDecision decision{};
    SharedBallots ballots{};
    RankSet silent{};  // that were given up while they were stopped
  };
  struct Rank {
    std::unique_ptr<QuorumAgreement> agreement;
    bool isAlive = true;
    bool isStopped = false;
    bool isExcluded = false;
    uint64_t cameTo = 0;
    RankSet lost{};  // links
    std::vector<std::vector<uint32_t>> lists;
  };

  bool runs(uint32_t rank) const { return isAlive(rank) && !ranks_[rank]->isStopped; }
  Host& hostOf(uint32_t rank) { return *hosts_[hostOf_[rank]]; }

  void report(uint32_t rank) {
    for (uint32_t mate = 0; mate < size(); ++mate) {
      if (hostOf_[mate] != hostOf_[rank]) continue;
      RankSet lost = ranks_[mate]->lost;
      for (uint32_t r = 0; r < size(); ++r) {
        if (hostOf_[r] == hostOf_[rank] && (!isAlive(r) || hostOf(rank).silent.has(r))) lost.add(r);
      }
      agreementOf(rank).report(mate, {ranks_[mate]->cameTo, lost});
    }
  }

  void send(uint32_t from, uint32_t to, const Vote& vote) {
    if (!cuts_.contains({from, to}) && isAlive(to) && !ranks_[from]->lost.has(to)) links_[{from, to}].push_back(vote);
  }

  void read(uint32_t rank) {
    Rank& r = *ranks_[rank];
    SharedDecision& decision = hostOf(rank).decision;
    if (hostOf(rank).silent.has(rank)) r.isExcluded = true;
    const uint64_t decided = decision.number.load(order::relaxed);
    if (r.isExcluded || r.cameTo == r.lists.size() || decided < r.cameTo) return;
    const RankSet& list = decision.of(decided);
    if (list.has(rank)) {
      r.lists.push_back(list.list());
    } else {
      r.isExcluded = true;
    }
  }

  void forget(uint32_t rank) {
    if (without_.memory) new (&hostOf(rank).ballots) SharedBallots{};
  }

  const Without without_;
  std::mt19937 random_;
  uint64_t now_ = 1;
  std::vector<uint32_t> hostOf_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Vote>> links_;
  std::set<std::pair<uint32_t, uint32_t>> cuts_;
};

}  // namespace dfccl::test
