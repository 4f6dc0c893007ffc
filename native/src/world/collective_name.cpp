#include "world/collective_name.hpp"

#include <span>

#include "world/graph_numbers.hpp"

namespace dfccl {
namespace {

// Of the ranges that a group's ranks make; the rest is counted.
constexpr size_t kMostRanges = 8;

/// "rank 3", "ranks 0 to 3, 6", "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 48 others".
std::string listOf(std::span<const uint32_t> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  size_t ranges = 0;
  for (size_t first = 0; first < ranks.size(); ++ranges) {
    if (ranges == kMostRanges) return text.append(" and ").append(std::to_string(ranks.size() - first)) + " others";
    size_t end = first + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - first < 3) end = first + 1;
    text.append(ranges == 0 ? "" : ", ").append(std::to_string(ranks[first]));
    if (end - first > 1) text.append(" to ").append(std::to_string(ranks[end - 1]));
    first = end;
  }
  return text;
}

/// The uneven collective, or the split, that a run is a part of; null: it stands for itself.
const char* wholeOf(Purpose purpose) {
  switch (purpose) {
    case Purpose::split:
      return "a split";
    case Purpose::allToAllV:
      return "an all-to-all-v";
    case Purpose::allGatherV:
      return "an all-gather-v";
    case Purpose::reduceScatterV:
      return "a reduce-scatter-v";
    case Purpose::gatherV:
      return "a gather-v";
    case Purpose::scatterV:
      return "a scatter-v";
    default:
      return nullptr;
  }
}

/// Messages to oneself are carried out as copies, which to the engine are broadcasts by a rank alone.
bool isMessage(const CollectiveSpec& spec) {
  if (spec.collective == Collective::sendRecv) return true;
  const Purpose purpose = spec.signature.purpose;
  return spec.collective == Collective::broadcast && purpose != Purpose::collective && purpose != Purpose::allGatherV;
}

std::string callOf(const CollectiveSpec& spec) {
  const auto rank = [&](size_t place) { return "rank " + std::to_string(spec.ranks[place]); };
  const bool isOfMessage = isMessage(spec);
  std::string text = nameOf(isOfMessage ? Collective::sendRecv : spec.collective);
  if (spec.collective != Collective::barrier)
    text.append(" of ").append(std::to_string(spec.count)).append(" ").append(nameOf(spec.type));
  if (spec.collective == Collective::allReduce || spec.collective == Collective::reduceScatter ||
      spec.collective == Collective::reduce) {
    text.append(", ").append(nameOf(spec.op));
  }
  if (isOfMessage) {
    text.append(", from ").append(rank(0)).append(" to ").append(rank(spec.ranks.size() - 1));
  } else if (hasRoot(spec.collective) && spec.root < spec.ranks.size()) {
    text.append(", root ").append(rank(spec.root));
  }
  text.append(", tag ").append(std::to_string(spec.signature.tag));
  if (const char* whole = wholeOf(spec.signature.purpose)) text.append(", part of ").append(whole);
  if (!isOfMessage) text.append(" (").append(listOf(spec.ranks)).append(")");
  return text;
}

std::string whereOf(const SignatureFacts& signature) {
  if (!signature.isCaptured()) return "";
  return signature.graph == GraphNumbers::kStreams ? ", in a stream" : ", in graph " + std::to_string(signature.graph);
}

}  // namespace

std::string nameOf(const CollectiveSpec& spec) {
  const std::string where = whereOf(spec.signature);
  if (!spec.id.isSignature()) return std::string(nameOf(spec.collective)) + " " + spec.id.text() + where;
  return (spec.ranks.empty() ? nameOf(spec.collective) + std::string(" ") + spec.id.text() : callOf(spec)) + where;
}

}  // namespace dfccl
