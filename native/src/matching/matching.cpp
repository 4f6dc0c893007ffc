#include "matching/matching.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "matching/part_callback.hpp"
#include "matching/unlocked.hpp"
#include "world/submitting.hpp"

namespace dfccl {
namespace {

/// How the other ranks are told of buffers, where runs may go through rings. @return the run's ring, if it has one.
uint64_t nameRing(const MatchedCollective& entry, const void*& send, void*& recv, const RequestPart* part,
                  RunWindows& windows) {
  const RunShape& shape = entry.shape;
  if (shape.sendBytes == 0) send = nullptr;
  if (shape.recvBytes == 0) recv = nullptr;
  windows.send = entry.isReached(send, shape.sendBytes) ? 0 : 1;
  windows.recv = entry.isReached(recv, shape.recvBytes) ? 0 : 1;
  return part == nullptr ? 0 : reinterpret_cast<uint64_t>(part->staged[0].memory);
}

/// Runs that are over as soon as they are submitted; told when the lock is open again, however that comes about.
class OverAtOnce {
 public:
  OverAtOnce() = default;
  ~OverAtOnce() {
    for (RequestPart* part : parts_) part->end(dfcclSuccess);
  }
  OverAtOnce(const OverAtOnce&) = delete;
  OverAtOnce& operator=(const OverAtOnce&) = delete;

  /// Then add() doesn't fail.
  void reserveOne() { parts_.reserve(parts_.size() + 1); }
  void add(RequestPart* part) { parts_.push_back(part); }

 private:
  std::vector<RequestPart*> parts_;
};

}  // namespace

Matching::Matching(Backend& backend, uint32_t rank)
    : backend_(backend),
      rank_(rank),
      mayCopy_(backend.options().segment != nullptr && !backend.checksMemory()),
      table_(backend, rank, [this](uint64_t registration) { pool_.endQuarantine(registration); }),
      pool_(backend, rank) {}

std::shared_ptr<MatchedGroup> Matching::makeGroup(std::vector<uint32_t> ranks, uint64_t name) {
  auto group = membershipIn(std::move(ranks));
  const GroupId family = GroupId::of(group->ranks, name, 0);
  const std::lock_guard lock(mutex_);
  group->id = GroupId::of(group->ranks, name, ++made_[{family.high, family.low}]);
  group->name = name;
  return group;
}

std::shared_ptr<MatchedGroup> Matching::makePart(std::vector<uint32_t> ranks, uint64_t name) {
  auto group = membershipIn(std::move(ranks));
  group->id = GroupId::of(group->ranks, name, 1);
  group->name = name;
  return group;
}

/// In a group that has no id yet.
std::shared_ptr<MatchedGroup> Matching::membershipIn(std::vector<uint32_t> ranks) const {
  CollectiveSpec spec;
  spec.collective = Collective::barrier;
  spec.ranks = ranks;
  checkSpec(spec, rank_, backend_.size());
  auto group = std::make_shared<MatchedGroup>();
  group->member = static_cast<uint32_t>(std::find(ranks.begin(), ranks.end(), rank_) - ranks.begin());
  group->ranks = std::move(ranks);
  return group;
}

void Matching::dropGroup(MatchedGroup& group) {
  const std::lock_guard lock(mutex_);
  uint64_t inFlight = messages_.countOf(group) + receives_.countOf(group);
  table_.forEach([&](const MatchedCollective& entry) {
    if (entry.group.get() == &group) inFlight += table_.inFlight(entry);
  });
  if (inFlight != 0) {
    throw Error(dfcclInUse,
                "The group has " + std::to_string(inFlight) + " runs in flight on rank " + std::to_string(rank_) + ".",
                group.isAborted
                    ? "They are given up, and end as soon as they are waited for: do that before you destroy it."
                    : "Wait for them, or give them up with dfcclGroupAbort, before you destroy it.",
                {{"rank", std::to_string(rank_)}, {"inFlight", std::to_string(inFlight)}});
  }
  table_.forget(group);
  std::erase_if(graphs_, [&](const auto& graphs) { return graphs.second.group == group.id; });
}

void Matching::checkOpen(const MatchedGroup& group) const {
  if (!group.isAborted) [[likely]]
    return;
  throw Error(dfcclAborted, "The group was given up on rank " + std::to_string(rank_) + ".",
              "Destroy it, and make another one.", {{"rank", std::to_string(rank_)}});
}

/// The registration of a run's signature, if the run may be submitted. Under the lock.
MatchedCollective& Matching::find(MatchedRun& run, const std::shared_ptr<MatchedGroup>& group) {
  checkOpen(*group);
  const auto check = [&](MatchedCollective& entry) { checkBuffers(entry, run.send, run.recv); };
  if (run.capture) [[unlikely]]
    return entryOf(run, group, check);
  MatchedCollective& entry = table_.get(run.signature, group);
  check(entry);
  return entry;
}

void Matching::checkBuffers(MatchedCollective& entry, const void* send, void* recv) {
  if (!isAllowed(entry.shape, send, recv)) [[unlikely]] {
    checkRun(entry.shape, backend_.specOf(rank_, entry.index), rank_, send, recv);
  }
  if (!backend_.checksMemory() || entry.known.hold(entry.shape, send, recv)) return;
  askAboutMemory(backend_, rank_, entry.index, entry.shape, entry.known, send, recv);
}

/// Which of the collective's runs it will be, for streams that are to wait for it. Under the lock.
void Matching::noteNumber(const MatchedCollective& entry, RequestPart& part) {
  part.collective = idOf(entry.signature);
  part.number = backend_.queues(rank_).issuedOf(entry.index) + 1;
  part.letStreamsWait(this);
}

/// Hands it to the engine. Under the lock, which is open while the driver is called.
bool Matching::queue(MatchedCollective& entry, const void* send, void* recv, void* stream, RequestPart* part,
                     std::unique_lock<std::mutex>& lock, EnteredStream entered) {
  if (entry.signature.isCaptured()) [[unlikely]] {
    capture(entry, send, recv, stream, part, lock);
    return true;
  }
  if (part != nullptr) part->registration = entry.registration;
  RunWindows windows;
  const uint64_t ring = entry.shape.rings != nullptr ? nameRing(entry, send, recv, part, windows) : 0;
  if (entry.shape.namesWindows) [[unlikely]]
    windows = nameWindows(backend_, rank_, entry.shape, send, recv);
  uint32_t slot;
  if (stream != nullptr) {
    slot = queueOnStream(entry, send, recv, stream, part, windows, lock, std::move(entered));
  } else {
    if (part != nullptr && backend_.checksMemory()) noteNumber(entry, *part);
    const RunCallback callback = callbackOf(part);
    slot = backend_.queues(rank_).submit(entry.index, send, recv, callback, part, windows, PlaceOnLine{}, ring);
  }
  if (!RankQueues::isTaken(slot)) [[unlikely]]
    refuseSubmission(backend_, rank_, slot);
  return false;
}

/// Somebody may have the driver until the device is idle, which it may become only by what another thread submits. So
/// the lock is open while the driver is called: only the number and the entry go together.
/// @param entered the stream, where it was entered before; then the lock is closed until the run is queued.
uint32_t Matching::queueOnStream(MatchedCollective& entry, const void* send, void* recv, void* stream,
                                 RequestPart* part, RunWindows windows, std::unique_lock<std::mutex>& lock,
                                 EnteredStream entered) {
  if (!entered) {
    {
      const Unlocked unlocked(lock, entry);
      entered = backend_.enterStream(rank_, stream);
    }
    if (!entered) return RankQueues::kFull;
    checkOpen(*entry.group);  // it may have been given up meanwhile
  }
  if (part != nullptr) noteNumber(entry, *part);
  const RunCallback callback = callbackOf(part);
  const uint32_t slot = entered->submit(entry.index, send, recv, callback, part, windows);
  if (!RankQueues::isTaken(slot)) return slot;
  const Unlocked unlocked(lock, entry);
  try {
    entered->arrive();
  } catch (const Error&) {
    // The rank is lost by that. Its runs end, this one too, which is queued: whoever waits for it is told.
  }
  return slot;
}

void Matching::submit(MatchedRun run, const std::shared_ptr<MatchedGroup>& group, RequestPart* part) {
  noteStream(run, *group);
  if (run.isInStream) return submitInStream(std::move(run), group, part);
  bool isOver;
  {
    std::unique_lock lock(mutex_);
    isOver = queueOrCopy(find(run, group), run, part, lock);
  }
  if (isOver && part != nullptr) part->end(dfcclSuccess);
  if (run.stream == nullptr) backend_.ring();
}

bool Matching::queueOrCopy(MatchedCollective& entry, const MatchedRun& run, RequestPart* part,
                           std::unique_lock<std::mutex>& lock, EnteredStream entered) {
  const bool isReached =
      entry.isReached(run.send, entry.shape.sendBytes) && entry.isReached(run.recv, entry.shape.recvBytes);
  if (isReached) [[likely]]
    return queue(entry, run.send, run.recv, run.stream, part, lock, std::move(entered));
  return submitCopied(entry, run, *part, lock);
}

void Matching::submitPrepared(std::span<BatchedRun> runs, size_t& done, Backend::Launches* launches) {
  bool isAnyAtOnce = false;
  OverAtOnce over;
  {
    std::unique_lock lock(mutex_);
    for (BatchedRun& batched : runs) {
      const MatchedRun& run = batched.run;
      checkOpen(*batched.group);  // it may have been given up meanwhile
      over.reserveOne();
      bool isOver = false;
      if (run.isInStream) {
        addLaunch(*batched.entry, run, batched.part, *launches);
      } else if (run.kind == RunKind::whole) {
        isOver = queue(*batched.entry, run.send, run.recv, run.stream, batched.part, lock);
      } else if (run.kind == RunKind::receiveFromAny) {
        receives_.add({run, batched.group, batched.part});
      } else {
        isOver = submitHalf(batched, lock);
      }
      if (isOver) over.add(batched.part);
      isAnyAtOnce |= run.stream == nullptr;
      --std::exchange(batched.entry, nullptr)->pins;
      ++done;
    }
  }
  if (isAnyAtOnce) backend_.ring();
  lookForSenders();
}

/// Nothing else may be asked of a stream that captures: the question would end the capture.
void Matching::requireNoCapture(void* stream) {
  if (!backend_.captureOf(rank_, stream)) return;
  throw Error(dfcclInvalidArgument,
              "The stream captures a graph, and the run is none of it: it was submitted before the capture.",
              "Wait for it before the capture begins.", {{"rank", std::to_string(rank_)}});
}

void Matching::waitOnStream(const RequestPart& part, void* stream) {
  if (part.captured.node != nullptr) return backend_.letGraphWait(rank_, part.captured, stream);
  requireNoCapture(stream);
  // Its own stream goes on only behind it.
  if (part.inStream.number != 0 && backend_.idOfStream(rank_, stream) == part.inStream.stream) return;
  std::unique_lock lock(mutex_);
  MatchedCollective* const entry = table_.find(part.collective);
  if (entry == nullptr || entry->registration != part.registration) return;  // forgotten: its runs are over
  const uint64_t runs = part.number;
  const Signature& signature = entry->signature;
  const bool isToSelf = signature.collective == Collective::sendRecv && signature.root == signature.receiver;
  const Unlocked unlocked(lock, *entry);
  if (part.inStream.number != 0) return backend_.waitForLaunched(rank_, entry->index, part.inStream, stream);
  // Whoever brings the other half of a message, which this half's request waits for, may not have put the stream's
  // arrival into it yet, which mustn't come behind the wait.
  const EnteredStream entered = isToSelf ? backend_.enterStream(rank_, stream) : nullptr;
  backend_.waitOnStream(rank_, entry->index, stream, runs);
}

void Matching::clear() {
  const std::lock_guard lock(mutex_);
  table_.clear();
  pool_.freeUnused();
}

size_t Matching::halvesLeft() {
  const std::lock_guard lock(mutex_);
  return messages_.count();
}

}  // namespace dfccl
