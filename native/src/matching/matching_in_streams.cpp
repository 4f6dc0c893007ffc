// Runs that are kernels in their streams (decision 47).
#include <string>
#include <thread>

#include "base/error.hpp"
#include "matching/matching.hpp"
#include "matching/part_callback.hpp"
#include "matching/unlocked.hpp"

namespace dfccl {
namespace {

/// What a member receives of the others, at most.
uint64_t receivedBytes(const Signature& signature, uint32_t members) {
  if (signature.collective == Collective::barrier) return 0;
  return signature.count * sizeOf(signature.type) * (members - 1);
}

}  // namespace

/// All members have to come to the same answer, by what they all know.
bool Matching::isForStreams(const MatchedRun& run, const MatchedGroup& group) {
  return group.mostBytesInStreams != 0 && run.kind == RunKind::whole && run.signature.purpose == Purpose::collective &&
         receivedBytes(run.signature, group.size()) <= group.mostBytesInStreams;
}

/// Such runs match each other only, as graphs' do.
void Matching::noteInStream(MatchedRun& run) const {
  if (run.stream == nullptr) {
    throw Error(dfcclInvalidArgument,
                "Rank " + std::to_string(rank_) + " runs a " + std::string(nameOf(run.signature.collective)) +
                    " behind no stream, in a group whose runs of this size are kernels in their streams.",
                "Pass a stream.", {{"rank", std::to_string(rank_)}});
  }
  run.isInStream = true;
  run.signature.graph = GraphNumbers::ofStreams();
  backend_.readyCapture(rank_);
}

void Matching::submitInStream(MatchedRun run, const std::shared_ptr<MatchedGroup>& group, RequestPart* part) {
  const std::unique_ptr<Backend::Launches> launches = backend_.beginLaunches();
  {
    std::unique_lock lock(mutex_);
    addLaunch(find(run, group), run, part, *launches, lock);
  }
  launches->launch();
}

/// Under the lock, which is open while there is no place for it.
void Matching::addLaunch(MatchedCollective& entry, const MatchedRun& run, RequestPart* part,
                         Backend::Launches& launches, std::unique_lock<std::mutex>& lock) {
  if (part != nullptr) {
    part->registration = entry.registration;
    part->collective = idOf(entry.signature);
  }
  PlaceInStream* const place = part != nullptr ? &part->inStream : nullptr;
  while (!launches.add(rank_, entry.index, run.send, run.recv, run.stream, callbackOf(part), part, place)) {
    const Unlocked unlocked(lock, entry);
    launches.launch();
    if (backend_.queues(rank_).deliver() == 0) std::this_thread::yield();
    backend_.checkHealth(rank_);
  }
  if (part != nullptr) part->letStreamsWait(this);
}

}  // namespace dfccl
