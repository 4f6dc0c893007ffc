// A proxy's part in agreeing with other machines on the survivors: it tells what it sees here, and carries the votes.
#include <string>

#include "base/error.hpp"
#include "network/proxy.hpp"
#include "processes/peer_watch.hpp"

namespace dfccl {
namespace {

std::string textOf(const std::vector<uint32_t>& ranks) {
  std::string text;
  for (const uint32_t rank : ranks) text.append(text.empty() ? "" : ", ").append(std::to_string(rank));
  return text;
}

}  // namespace

/// Whether there may be something to do without a message from outside.
bool Proxy::isAgreeing() const {
  const uint64_t decided = segment_->decision().number.load(order::acquire);
  // Given up by its machine's others, which the rest don't know yet.
  const bool isGivenUp = segment_->presenceOf(rank_) > Presence::joined;
  return decided != agreedTo_ || isGivenUp || segment_->area(rank_).agreement.load(order::acquire) > decided;
}

void Proxy::agree(uint64_t now) {
  if (!isAgreeing()) return;
  const Segment::Lock lock(*segment_, std::try_to_lock);
  if (!lock.isHeld()) return;
  const std::lock_guard own(mutex_);
  reportToAgreement();
  agreement_.step(now);
  agreedTo_ = segment_->decision().number.load(order::acquire);
  if (agreement_.isCutOff()) cutOffFrom_.store(agreedTo_ + 1, order::release);
}

bool Proxy::handleVote(uint32_t from, const Vote& vote) {
  const Segment::Lock lock(*segment_, std::try_to_lock);
  if (!lock.isHeld()) return false;
  const std::lock_guard own(mutex_);
  reportToAgreement();
  agreement_.hear(from, vote, nowMillis());
  return true;
}

void Proxy::reportToAgreement() {
  RankSet lost{};
  std::vector<uint32_t> mates;
  for (uint32_t r = 0; r < segment_->ranks(); ++r) {
    if (!segment_->isLocal(r)) continue;
    mates.push_back(r);
    // The system knows of a death before the others' watches have noted it.
    if (segment_->presenceOf(r) > Presence::joined || segment_->isProcessGone(r)) lost.add(r);
  }
  for (const uint32_t mate : mates) {
    RankArea& area = segment_->area(mate);
    QuorumAgreement::Report report{area.agreement.load(order::acquire), lost};
    for (uint32_t r = 0; r < segment_->ranks(); r += RankSet::kWordBits) {
      const uint32_t word = r / RankSet::kWordBits;
      report.lost.words[word] |= area.lostLinks[word].load(order::acquire);
    }
    agreement_.report(mate, report);
  }
}

void Proxy::joinAgreement() {
  const uint64_t number = segment_->area(rank_).agreement.load(order::acquire);
  if (joinedAgreement_.exchange(number, order::acqRel) != number) notify();
  if (cutOffFrom_.load(order::acquire) != number) return;
  std::vector<uint32_t> lost, reached;
  for (uint32_t r = 0; r < segment_->ranks(); ++r) {
    const Presence presence = segment_->isLocal(r) ? segment_->presenceOf(r) : presenceOf(r);
    (presence > Presence::joined ? lost : reached).push_back(r);
  }
  throw Error(dfcclAborted,
              "Rank " + std::to_string(rank_) + " reaches ranks " + textOf(reached) +
                  ", too few to go on: the others may have done so without them.",
              "End this process. Where the others don't go on, start the job again from what it saved last.",
              {{"reached", textOf(reached)}, {"lost", textOf(lost)}});
}

std::vector<uint32_t> Proxy::awaitedByAgreement() {
  const Segment::Lock segment(*segment_);
  const std::lock_guard lock(mutex_);
  reportToAgreement();
  return agreement_.awaited();
}

}  // namespace dfccl
