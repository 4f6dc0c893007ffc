#include "processes/agreement.hpp"

#include "error.hpp"

namespace dfccl {
namespace {

constexpr uint32_t kWordBits = 64;

/// @pre the lock is held.
void decide(Segment& segment, SharedDecision& decision, uint64_t number) {
  for (uint64_t& word : decision.survivors) word = 0;
  for (uint32_t r = 0; r < segment.ranks(); ++r) {
    // The system knows of a death before the others' watches have noted it.
    if (segment.presenceOf(r) != Presence::joined || segment.isProcessGone(r)) continue;
    decision.survivors[r / kWordBits] |= uint64_t{1} << r % kWordBits;
  }
  // Last: whoever dies before this line has decided nothing, and the next holder of the lock begins anew.
  decision.number.store(number, order::release);
}

}  // namespace

std::vector<uint32_t> Agreement::awaited() const {
  std::vector<uint32_t> ranks;
  for (uint32_t r = 0; r < segment_->ranks(); ++r) {
    const bool hasCome = segment_->area(r).agreement.load(order::acquire) > reached_;
    if (!hasCome && segment_->presenceOf(r) == Presence::joined) ranks.push_back(r);
  }
  return ranks;
}

std::optional<std::vector<uint32_t>> Agreement::look() {
  const uint32_t own = segment_->rank();
  const uint64_t number = reached_ + 1;
  segment_->area(own).agreement.store(number, order::release);
  if (!awaited().empty()) return {};
  const Segment::Lock lock(*segment_);
  // Presence never returns, and what is decided without this rank is decided after it was given up.
  if (segment_->presenceOf(own) != Presence::joined) {
    throw Error(dfcclAborted,
                "Rank " + std::to_string(own) + " was silent for too long, and the others have given it up.",
                "End this process; it can't go on in this world.", {{"rank", std::to_string(own)}});
  }
  SharedDecision& decision = segment_->decision();
  if (decision.number.load(order::acquire) < number) decide(*segment_, decision, number);
  std::vector<uint32_t> survivors;
  for (uint32_t r = 0; r < segment_->ranks(); ++r) {
    if ((decision.survivors[r / kWordBits] >> r % kWordBits & 1) != 0) survivors.push_back(r);
  }
  reached_ = number;
  return survivors;
}

}  // namespace dfccl
