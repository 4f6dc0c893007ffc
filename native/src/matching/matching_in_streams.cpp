// Runs that are kernels in their streams (decision 47).
#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "matching/matching.hpp"
#include "matching/part_callback.hpp"

namespace dfccl {
namespace {

/// What a member receives of the others, at most; of one that is alone, what it moves.
uint64_t receivedBytes(const Signature& signature, uint32_t members) {
  const uint64_t segment = signature.count * sizeOf(signature.type);
  switch (signature.collective) {
    case Collective::barrier:
      return 0;
    case Collective::broadcast:
    case Collective::scatter:
    case Collective::sendRecv:
      return segment;
    default:
      return segment * std::max(1u, members - 1);
  }
}

}  // namespace

void Matching::requireOwnStream(const RequestPart& part, void* stream) {
  requireNoCapture(stream);
  if (backend_.idOfStream(rank_, stream) == part.inStream.stream) return;
  throw Error(
      dfcclUnavailable,
      "Rank " + std::to_string(rank_) +
          " lets a stream wait for a run of another stream, for which alone its results are (dfcclForItsStream).",
      "Record an event in the run's stream, and let the other wait for that; or use dfcclForAll.",
      {{"rank", std::to_string(rank_)}});
}

/// All members have to come to the same answer, by what they all know. Messages of a rank to itself, whose halves come
/// one by one, are nobody else's affair.
bool Matching::isForStreams(const MatchedRun& run, const MatchedGroup& group) {
  return group.mostBytesInStreams != 0 && (run.kind == RunKind::whole || run.kind == RunKind::receiveFromAny) &&
         run.signature.purpose != Purpose::split &&
         receivedBytes(run.signature, group.size()) <= group.mostBytesInStreams;
}

/// Such runs match each other only, as graphs' do.
void Matching::noteInStream(MatchedRun& run, const MatchedGroup& group) const {
  if (run.kind == RunKind::receiveFromAny) {
    throw Error(dfcclUnavailable,
                "Rank " + std::to_string(rank_) +
                    " receives from any rank, in a group whose messages of this size are kernels in their streams.",
                "Receive from a rank that you name, or through a group that dfcclGroupRunInStreams wasn't called for.",
                {{"rank", std::to_string(rank_)}});
  }
  if (run.stream == nullptr) {
    throw Error(dfcclInvalidArgument,
                "Rank " + std::to_string(rank_) + " runs a " + std::string(nameOf(run.signature.collective)) +
                    " behind no stream, in a group whose runs of this size are kernels in their streams.",
                "Pass a stream.", {{"rank", std::to_string(rank_)}});
  }
  run.isInStream = true;
  run.isForItsStream = group.areForTheirStreams;
  run.signature.graph = GraphNumbers::ofStreams();
  backend_.readyCapture(rank_);
}

void Matching::submitInStream(MatchedRun run, const std::shared_ptr<MatchedGroup>& group, RequestPart* part) {
  const std::unique_ptr<Backend::Launches> launches = backend_.beginLaunches();
  {
    const std::lock_guard lock(mutex_);
    addLaunch(find(run, group), run, part, *launches);
  }
  launches->launch();
}

/// Under the lock.
void Matching::addLaunch(const MatchedCollective& entry, const MatchedRun& run, RequestPart* part,
                         Backend::Launches& launches) {
  if (part != nullptr) {
    part->registration = entry.registration;
    part->collective = idOf(entry.signature);
  }
  PlaceInStream* const place = part != nullptr ? &part->inStream : nullptr;
  const bool isForItsStream = run.isForItsStream;
  launches.add(rank_, entry.index, {run.send, run.recv, run.stream, isForItsStream}, {callbackOf(part), part}, place);
  if (part != nullptr) part->letStreamsWait(this);
}

}  // namespace dfccl
