#include "processes/agreement.hpp"

#include "base/error.hpp"

namespace dfccl {
namespace {

/// @pre the lock is held.
void decide(Segment& segment, SharedDecision& decision, uint64_t number) {
  RankSet& survivors = decision.of(number) = {};
  for (uint32_t r = 0; r < segment.ranks(); ++r) {
    // The system knows of a death before the others' watches have noted it.
    if (segment.presenceOf(r) == Presence::joined && !segment.isProcessGone(r)) survivors.add(r);
  }
  // Last: whoever dies before this line has decided nothing, and the next holder of the lock begins anew.
  decision.number.store(number, order::release);
}

[[noreturn]] void refuseGivenUp(uint32_t rank, const std::string& why) {
  throw Error(dfcclAborted, "Rank " + std::to_string(rank) + " " + why + ", and the others have given it up.",
              "End this process; it can't go on in this world.", {{"rank", std::to_string(rank)}});
}

}  // namespace

std::vector<uint32_t> Agreement::awaited() const {
  std::vector<uint32_t> ranks;
  for (uint32_t r = 0; r < segment_->ranks(); ++r) {
    if (!segment_->isLocal(r)) continue;
    const bool hasCome = segment_->area(r).agreement.load(order::acquire) > reached_;
    if (!hasCome && segment_->presenceOf(r) == Presence::joined) ranks.push_back(r);
  }
  return ranks;
}

std::optional<std::vector<uint32_t>> Agreement::look() {
  const uint32_t own = segment_->rank();
  const uint64_t number = reached_ + 1;
  segment_->area(own).agreement.store(number, order::release);
  SharedDecision& decision = segment_->decision();
  const auto isDecided = [&] { return decision.number.load(order::acquire) >= number; };
  const auto isGivenUp = [&] { return segment_->presenceOf(own) != Presence::joined; };
  if (isSpread_ ? !isDecided() && !isGivenUp() : !awaited().empty()) return {};
  const Segment::Lock lock(*segment_);
  // Presence never returns, and what is decided without this rank is decided after it was given up.
  if (isGivenUp()) refuseGivenUp(own, "was silent for too long");
  if (!isDecided()) decide(*segment_, decision, number);
  const RankSet& survivors = decision.of(decision.number.load(order::acquire));
  if (!survivors.has(own)) refuseGivenUp(own, "was out of reach of some of them");
  reached_ = number;
  return survivors.list();
}

}  // namespace dfccl
