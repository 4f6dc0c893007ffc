// Runs that are part of a graph which their stream captures.
#include <optional>
#include <string>

#include "base/error.hpp"
#include "matching/matching.hpp"
#include "matching/unlocked.hpp"

namespace dfccl {

/// Runs that a graph carries out match each other only: what they need of their collective is another registration's.
void Matching::noteStream(MatchedRun& run, const MatchedGroup& group) const {
  if (run.stream != nullptr) run.capture = backend_.captureOf(rank_, run.stream);
  if (!run.capture) {
    if (isForStreams(run, group)) noteInStream(run, group);
    return;
  }
  if (run.kind == RunKind::receiveFromAny) {
    throw Error(dfcclUnavailable, "A receive from any rank can't be part of a graph.",
                "Receive outside of the capture, or from a rank that you name.", {{"rank", std::to_string(rank_)}});
  }
  backend_.readyCapture(rank_);
}

/// The registration of a run's signature, made where there is none, if the run may be submitted. Under the lock, which
/// stays until the registration can't be forgotten. @param check of the registration; may throw
MatchedCollective& Matching::entryOf(MatchedRun& run, const std::shared_ptr<MatchedGroup>& group,
                                     const std::function<void(MatchedCollective&)>& check) {
  GraphsOfSignature& graphs = graphs_[idOf(run.signature)];
  graphs.group = run.signature.group;
  const GraphNumbers::Number number = graphs.numbers.of(*run.capture);
  run.signature.graph = number.graph;
  try {
    MatchedCollective& entry = table_.get(run.signature, group);
    check(entry);
    return entry;
  } catch (...) {
    if (number.isNew) graphs.numbers.takeBack();
    throw;
  }
}

/// The graph carries it out whenever it is launched; to its caller it is over.
void Matching::capture(MatchedCollective& entry, const void* send, void* recv, void* stream, RequestPart* part,
                       std::unique_lock<std::mutex>& lock) {
  CapturedPlace place;
  {
    std::optional<Unlocked> unlocked;
    // Between two halves that have met nobody may come.
    if (part == nullptr || part->otherHalf == nullptr) unlocked.emplace(lock, entry);
    place = backend_.captureRun(rank_, entry.index, send, recv, stream);
  }
  if (part == nullptr) return;
  part->captured = place;
  part->letStreamsWait(this);
}

}  // namespace dfccl
