#include "world/call_difference.hpp"

namespace dfccl {
namespace {

bool isPartOfUneven(Purpose purpose) { return purpose >= Purpose::allToAllV; }

bool reduces(Collective collective) {
  return collective == Collective::allReduce || collective == Collective::reduceScatter ||
         collective == Collective::reduce;
}

bool mayBeMeantBy(const CollectiveSpec& theirs, const CollectiveSpec& mine) {
  const SignatureFacts& a = theirs.signature;
  const SignatureFacts& b = mine.signature;
  if (!theirs.id.isSignature() || !mine.id.isSignature() || theirs.id == mine.id || theirs.ranks != mine.ranks)
    return false;
  if (a.purpose != b.purpose || a.tag != b.tag || a.isCaptured() != b.isCaptured()) return false;
  // Another root's part is none of another call.
  return !isPartOfUneven(a.purpose) || theirs.root == mine.root;
}

}  // namespace

std::optional<CallDifference> differenceOf(const CollectiveSpec& theirs, const CollectiveSpec& mine) {
  if (!mayBeMeantBy(theirs, mine)) return std::nullopt;
  CallDifference difference{0, {}};
  const auto add = [&](const char* field, const std::string& its, const std::string& own) {
    if (its == own) return;
    difference.text += std::string(difference.fields++ == 0 ? "" : " and ") + field + " " + its + ", not " + own;
  };
  add("kind", nameOf(theirs.collective), nameOf(mine.collective));
  add("count", std::to_string(theirs.count), std::to_string(mine.count));
  add("type", nameOf(theirs.type), nameOf(mine.type));
  if (reduces(theirs.collective) && reduces(mine.collective)) add("operator", nameOf(theirs.op), nameOf(mine.op));
  if (hasRoot(theirs.collective) && hasRoot(mine.collective) && theirs.root < theirs.ranks.size() &&
      mine.root < mine.ranks.size()) {
    add("root", "rank " + std::to_string(theirs.ranks[theirs.root]), "rank " + std::to_string(mine.ranks[mine.root]));
  }
  add("graph", std::to_string(theirs.signature.graph), std::to_string(mine.signature.graph));
  if (difference.fields == 0) {
    difference.fields = 1;
    difference.text = isPartOfUneven(mine.signature.purpose) ? "other counts, or of another group of the same ranks"
                                                             : "another group of the same ranks";
  }
  return difference;
}

}  // namespace dfccl
