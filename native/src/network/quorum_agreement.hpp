#pragma once
// How the ranks of several machines agree on who goes on: Paxos, with one acceptor a machine (docs/decisions/0018).
//
//   every rank                 comes, and tells all others so, with those that it has lost
//   the lowest that can        waits until all that it sees alive have come
//     prepare, promise         asks the machines what they have accepted; from then on they refuse earlier ballots
//     accept, accepted         proposes that; where it was nothing, those who came and have lost none of one another
//     decided                  tells everybody, and whoever hears it passes it on
//
// The voters are the survivors of the last agreement. More than half of them must be on the machines that answer, or
// half with the lowest: of two sides that can't hear each other, one at most decides. What is decided stays decided:
// whoever proposes after it finds it accepted by one of any such machines.
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "network/acceptor.hpp"

namespace dfccl {

/// One process's part. It moves nothing by itself: what it is told, it answers through `send`.
class QuorumAgreement {
 public:
  struct Report {
    uint64_t cameTo = 0;  // the last agreement
    RankSet lost{};       // as the rank sees it: gone, or out of its reach; itself, if it was given up. Only grows.
  };
  using Send = std::function<void(uint32_t rank, const Vote& vote)>;

  struct Options {
    uint64_t noticeMillis = 0;  // within which all have noticed a death
    unsigned seed = 0;
    bool needsQuorum = true;  // false: for a control only
  };

  /// @param hostOf [rank] @param send to ranks on other machines; it arrives, in order, unless one of the two loses the
  /// other.
  QuorumAgreement(uint32_t rank, std::vector<uint32_t> hostOf, Acceptor acceptor, Send send, const Options& options);

  /// All three: under the lock of the acceptor's memory.
  /// What is so on this machine: of its own ranks, this one included.
  void report(uint32_t rank, const Report& report) { reports_[rank] = report; }
  void hear(uint32_t from, const Vote& vote, uint64_t nowMillis);
  /// Does what is to be done by now. To be called again and again.
  void step(uint64_t nowMillis);

  /// Whether this rank has come to an agreement that isn't decided yet, as far as is known here.
  bool isUnderWay() const { return reports_[rank_].cameTo > acceptor_.decided(); }
  /// Who it waits for: ranks that live and haven't come; then those that have, and don't answer.
  std::vector<uint32_t> awaited() const;
  /// All that live have come, and are too few to decide: the others may have done so.
  bool isCutOff() const;

 private:
  using Hosts = std::vector<bool>;
  enum class Phase { none, preparing, accepting };

  bool isLost(uint32_t rank) const;
  bool hasCome(uint32_t rank) const { return reports_[rank].cameTo > acceptor_.decided(); }
  std::vector<uint32_t> missing() const;
  /// Who should propose, as this rank sees it.
  std::optional<uint32_t> leader() const;
  bool isQuorum(const Hosts& hosts) const;
  bool reachesQuorum(const RankSet& lost) const;
  /// Who may go on: has come and isn't lost.
  std::vector<uint32_t> candidates() const;
  bool areApart(uint32_t a, uint32_t b) const { return reports_[a].lost.has(b) || reports_[b].lost.has(a); }
  RankSet apart() const;
  RankSet choose() const;
  void tellDecision();
  void tellComing();
  void hearAnswer(uint32_t host, const Vote& answer, uint64_t nowMillis);
  void broadcast(const Vote& vote);
  void broadcastAndHear(const Vote& vote, uint64_t nowMillis);

  const uint32_t rank_;
  const std::vector<uint32_t> hostOf_;
  Acceptor acceptor_;
  Send send_;
  const Options options_;
  std::mt19937 random_;
  std::vector<Report> reports_;  // [rank]
  uint64_t toldDecision_ = 0;
  Report toldComing_;
  RankSet apart_{};  // candidates that have lost some other
  uint64_t apartSince_ = 0;

  // A proposal under way.
  Phase phase_ = Phase::none;
  Vote proposal_;
  RankSet choice_{};  // to propose if nothing was accepted yet
  Hosts answered_;
  Ballot highestAccepted_ = 0;
  uint64_t highestRound_ = 0;  // that was heard of
  uint32_t refusals_ = 0;
  uint64_t notBefore_ = 0;
};

}  // namespace dfccl
