// What is given up, of a group's or of one signature's.
#include "matching/matching.hpp"

namespace dfccl {

void Matching::abortGroup(MatchedGroup& group) {
  std::vector<RequestPart*> ended, received;
  {
    const std::lock_guard lock(mutex_);
    group.isAborted = true;
    std::vector<uint32_t> indices;
    table_.forEach([&](MatchedCollective& entry) {
      // Graphs have runs in flight of which nobody here knows.
      if (entry.group.get() == &group && (entry.signature.isCaptured() || table_.inFlight(entry) != 0)) {
        indices.push_back(entry.index);
      }
    });
    for (const uint32_t index : indices) backend_.letEnd(rank_, index);
    for (const uint32_t index : indices) backend_.abortCollective(rank_, index);
    ended = messages_.takeOf(group);
    received = receives_.takeOf(group);
  }
  for (RequestPart* part : ended) part->end(dfcclAborted);
  for (RequestPart* part : received) part->end(dfcclAborted);
  receives_.settle(received.size());
}

void Matching::abortRun(const Signature& signature, const std::shared_ptr<MatchedGroup>& group) {
  const std::lock_guard lock(mutex_);
  backend_.abortCollective(rank_, table_.get(signature, group).index);
}

}  // namespace dfccl
