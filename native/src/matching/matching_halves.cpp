// Messages of a rank to itself: what is sent and what is received are submitted one by one, and one run moves them.
#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "matching/matching.hpp"
#include "matching/unlocked.hpp"
#include "world/submitting.hpp"

namespace dfccl {
namespace {

/// What one run for both halves is behind. @param other of the half that came first. @throws Error dfcclUnavailable
void* streamOfBoth(uint32_t rank, void* stream, void* other) {
  if (other == nullptr || other == stream) return stream;
  if (stream == nullptr) return other;
  throw Error(dfcclUnavailable,
              "Rank " + std::to_string(rank) + " sends to itself behind one stream and receives behind another.",
              "Give both the same stream, which waits for the other one first (cudaStreamWaitEvent).",
              {{"rank", std::to_string(rank)}});
}

}  // namespace

/// What can be wrong with it is told at once, not when its other half comes.
void Matching::checkHalf(const RunShape& shape, const MatchedRun& run) const {
  const bool isSend = run.kind == RunKind::sendToSelf;
  const void* const buffer = isSend ? run.send : run.recv;
  const uint64_t bytes = std::max(shape.sendBytes, shape.recvBytes);
  if (bytes == 0 || (buffer != nullptr && reinterpret_cast<uint64_t>(buffer) >> 48 == 0)) return;
  throw Error(dfcclInvalidArgument,
              "Rank " + std::to_string(rank_) + (isSend ? " sends to" : " receives from") +
                  (run.kind == RunKind::receiveFromAny ? " any rank" : " itself") + ", and the buffer is " +
                  (buffer == nullptr ? "null." : "no address of this process."),
              "Pass a buffer of at least " + std::to_string(bytes) + " bytes.",
              {{"rank", std::to_string(rank_)}, {"bytes", std::to_string(bytes)}});
}

/// What the halves' run is behind, where the other half is there: entered before they meet, as the lock is open
/// meanwhile. Nothing: there is no other half, or no stream. A run that is captured is behind no stream of the rank's.
/// @throws Error with nothing changed
Matching::EnteredStream Matching::enterStreamOfHalves(const BatchedRun& batched, std::unique_lock<std::mutex>& lock) {
  const MatchedRun& run = batched.run;
  const CollectiveId key = idOf(run.signature);
  const bool isSend = run.kind == RunKind::sendToSelf;
  for (;;) {
    const SelfMessages::Half* const other = messages_.facing(key, isSend);
    if (other == nullptr || run.signature.isCaptured()) return nullptr;
    void* const stream = streamOfBoth(rank_, run.stream, other->stream);
    if (stream == nullptr) return nullptr;
    EnteredStream entered;
    {
      const Unlocked unlocked(lock, *batched.entry);
      entered = backend_.enterStream(rank_, stream);
    }
    if (!entered) refuseSubmission(backend_, rank_, RankQueues::kFull);
    checkOpen(*batched.group);
    // Somebody else may have met it.
    const SelfMessages::Half* const now = messages_.facing(key, isSend);
    if (now != nullptr && streamOfBoth(rank_, run.stream, now->stream) == stream) return entered;
  }
}

/// A message to itself moves when its other half is there, else this one waits. What is refused of a pair is this half.
/// Under the lock.
bool Matching::submitHalf(BatchedRun& batched, std::unique_lock<std::mutex>& lock) {
  MatchedRun run = batched.run;
  const bool isSend = run.kind == RunKind::sendToSelf;
  EnteredStream entered = enterStreamOfHalves(batched, lock);
  const auto other = messages_.meet(idOf(run.signature), isSend,
                                    {run.signature, run.send, run.recv, run.stream, batched.part, batched.group});
  if (!other) return false;
  if (isSend) {
    run.recv = other->recv;
  } else {
    run.send = other->send;
  }
  const RequestPart alone = *batched.part;
  for (Request* request : other->part->requests) {
    if (request != nullptr) batched.part->add(request);
  }
  try {
    run.stream = streamOfBoth(rank_, run.stream, other->stream);
    checkBuffers(*batched.entry, run.send, run.recv);
    batched.part->otherHalf = other->part;
    return queueOrCopy(*batched.entry, run, batched.part, lock, std::move(entered));
  } catch (...) {
    *batched.part = alone;
    other->part->matching.store(nullptr, order::relaxed);
    messages_.putBack(idOf(run.signature), !isSend, *other);
    throw;
  }
}

}  // namespace dfccl
