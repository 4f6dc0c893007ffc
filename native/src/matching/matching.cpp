#include "matching/matching.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "world/submitting.hpp"

namespace dfccl {
namespace {

/// The lock is open meanwhile, and the collective is not forgotten.
class Unlocked {
 public:
  Unlocked(std::unique_lock<std::mutex>& lock, MatchedCollective& entry) : lock_(lock), entry_(entry) {
    ++entry_.pins;
    lock_.unlock();
  }
  ~Unlocked() {
    lock_.lock();
    --entry_.pins;
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::unique_lock<std::mutex>& lock_;
  MatchedCollective& entry_;
};

void giveBackCopies(RequestPart& part) {
  for (Staged& piece : part.staged) {
    if (piece.memory != nullptr) part.pool->giveBack(piece);
  }
}

void nobodyAsked(void*, dfcclResult_t) {}

void partIsOver(void* argument, dfcclResult_t status) {
  RequestPart& part = *static_cast<RequestPart*>(argument);
  if (status == dfcclSuccess && part.copyBytes != 0) std::memcpy(part.copyTo, part.copyFrom, part.copyBytes);
  giveBackCopies(part);
  Request* const requests[] = {part.requests[0], part.requests[1]};  // the part is gone with the first
  for (Request* request : requests) {
    if (request != nullptr) request->partIsOver(status);
  }
}

}  // namespace

Matching::Matching(Backend& backend, uint32_t rank)
    : backend_(backend),
      rank_(rank),
      mayCopy_(backend.options().segment != nullptr && !backend.checksMemory()),
      table_(backend, rank),
      pool_(backend, rank) {}

std::shared_ptr<MatchedGroup> Matching::makeGroup(std::vector<uint32_t> ranks, uint64_t name) {
  CollectiveSpec spec;
  spec.collective = Collective::barrier;
  spec.ranks = ranks;
  checkSpec(spec, rank_, backend_.size());
  auto group = std::make_shared<MatchedGroup>();
  group->member = static_cast<uint32_t>(std::find(ranks.begin(), ranks.end(), rank_) - ranks.begin());
  const GroupId family = GroupId::of(ranks, name, 0);
  const std::lock_guard lock(mutex_);
  group->id = GroupId::of(ranks, name, ++made_[{family.high, family.low}]);
  group->ranks = std::move(ranks);
  return group;
}

void Matching::dropGroup(MatchedGroup& group) {
  const std::lock_guard lock(mutex_);
  uint64_t inFlight = 0;
  table_.forEach([&](const MatchedCollective& entry) {
    if (entry.group.get() == &group) inFlight += table_.inFlight(entry);
  });
  for (const auto& [key, halves] : halves_) {
    for (const Half& half : halves.waiting) inFlight += half.group.get() == &group ? 1 : 0;
  }
  if (inFlight != 0) {
    throw Error(dfcclInUse,
                "The group has " + std::to_string(inFlight) + " runs in flight on rank " + std::to_string(rank_) + ".",
                "Wait for them, or give them up with dfcclGroupAbort, before you destroy it.",
                {{"rank", std::to_string(rank_)}, {"inFlight", std::to_string(inFlight)}});
  }
  table_.forget(group);
}

void Matching::abortGroup(MatchedGroup& group) {
  std::vector<RequestPart*> ended;
  {
    const std::lock_guard lock(mutex_);
    group.isAborted = true;
    table_.forEach([&](MatchedCollective& entry) {
      if (entry.group.get() == &group && table_.inFlight(entry) != 0) {
        backend_.abortCollective(rank_, entry.index);
      }
    });
    for (auto& [key, halves] : halves_) {
      std::erase_if(halves.waiting, [&](const Half& half) {
        const bool isMine = half.group.get() == &group;
        if (isMine) ended.push_back(half.part);
        return isMine;
      });
    }
    std::erase_if(halves_, [](const auto& entry) { return entry.second.waiting.empty(); });
  }
  for (RequestPart* part : ended) part->requests[0]->partIsOver(dfcclAborted);
}

void Matching::checkOpen(const MatchedGroup& group) const {
  if (!group.isAborted) [[likely]]
    return;
  throw Error(dfcclAborted, "The group was given up on rank " + std::to_string(rank_) + ".",
              "Destroy it, and make another one.", {{"rank", std::to_string(rank_)}});
}

void Matching::abortRun(const Signature& signature, const std::shared_ptr<MatchedGroup>& group) {
  const std::lock_guard lock(mutex_);
  backend_.abortCollective(rank_, table_.get(signature, group).index);
}

/// The registration of a run's signature, if the run may be submitted. Under the lock.
MatchedCollective& Matching::find(const MatchedRun& run, const std::shared_ptr<MatchedGroup>& group) {
  checkOpen(*group);
  MatchedCollective& entry = table_.get(run.signature, group);
  checkBuffers(entry, run.send, run.recv);
  return entry;
}

void Matching::checkBuffers(MatchedCollective& entry, const void* send, void* recv) {
  if (!isAllowed(entry.shape, send, recv)) [[unlikely]] {
    checkRun(entry.shape, backend_.specOf(rank_, entry.index), rank_, send, recv);
  }
  if (!backend_.checksMemory() || entry.known.hold(entry.shape, send, recv)) return;
  askAboutMemory(backend_, rank_, entry.index, entry.shape, entry.known, send, recv);
}

/// Copies what other ranks can't reach. In place, both stay where they are to each other.
void Matching::bringIntoReach(const MatchedCollective& entry, const void*& send, void*& recv, RequestPart& part) {
  const RunShape& shape = entry.shape;
  const auto from = reinterpret_cast<uint64_t>(send), to = reinterpret_cast<uint64_t>(recv);
  const bool usesBoth = shape.sendBytes != 0 && shape.recvBytes != 0;
  const bool overlaps = usesBoth && from < to + shape.recvBytes && to < from + shape.sendBytes;
  part.pool = &pool_;
  const auto copyOut = [&](void* copy) {
    part.copyTo = recv;
    part.copyFrom = copy;
    part.copyBytes = shape.recvBytes;
    recv = copy;
  };
  if (overlaps) {
    if (entry.isReached(send, shape.sendBytes) && entry.isReached(recv, shape.recvBytes)) return;
    const uint64_t begin = std::min(from, to);
    part.staged[0] = pool_.take(std::max(from + shape.sendBytes, to + shape.recvBytes) - begin);
    auto* const copy = static_cast<uint8_t*>(part.staged[0].memory);
    std::memcpy(copy + (from - begin), send, shape.sendBytes);
    send = copy + (from - begin);
    return copyOut(copy + (to - begin));
  }
  if (!entry.isReached(send, shape.sendBytes)) {
    part.staged[0] = pool_.take(shape.sendBytes);
    std::memcpy(part.staged[0].memory, send, shape.sendBytes);
    send = part.staged[0].memory;
  }
  if (!entry.isReached(recv, shape.recvBytes)) {
    part.staged[1] = pool_.take(shape.recvBytes);
    copyOut(part.staged[1].memory);
  }
}

/// Hands it to the engine. Under the lock.
void Matching::queue(MatchedCollective& entry, const void* send, void* recv, void* stream, RequestPart* part) {
  if (part != nullptr && backend_.checksMemory() && part->requests[0]->parts == nullptr) {
    part->requests[0]->waitedFor = &entry;
    part->requests[0]->number = backend_.queues(rank_).issuedOf(entry.index) + 1;
  }
  RunWindows windows;
  if (entry.shape.namesWindows) [[unlikely]]
    windows = nameWindows(backend_, rank_, entry.shape, send, recv);
  const RunCallback callback = part != nullptr ? partIsOver : nobodyAsked;
  const uint32_t slot = stream != nullptr
                            ? backend_.submitOnStream(rank_, entry.index, send, recv, stream, callback, part, windows)
                            : backend_.queues(rank_).submit(entry.index, send, recv, callback, part, windows);
  if (!RankQueues::isTaken(slot)) [[unlikely]]
    refuseSubmission(backend_, rank_, slot);
}

void Matching::submit(const MatchedRun& run, const std::shared_ptr<MatchedGroup>& group, RequestPart* part) {
  {
    std::unique_lock lock(mutex_);
    MatchedCollective& entry = find(run, group);
    const bool isReached =
        entry.isReached(run.send, entry.shape.sendBytes) && entry.isReached(run.recv, entry.shape.recvBytes);
    if (isReached) [[likely]] {
      queue(entry, run.send, run.recv, run.stream, part);
    } else {
      submitCopied(entry, run, *part, lock);
    }
  }
  if (run.stream == nullptr) backend_.ring();
}

/// With copies of the buffers, which are made without the lock. @pre mayCopy()
void Matching::submitCopied(MatchedCollective& entry, const MatchedRun& run, RequestPart& part,
                            std::unique_lock<std::mutex>& lock) {
  const void* send = run.send;
  void* recv = run.recv;
  try {
    {
      const Unlocked unlocked(lock, entry);
      bringIntoReach(entry, send, recv, part);
    }
    checkOpen(*entry.group);  // it may have been given up meanwhile
    queue(entry, send, recv, run.stream, &part);
  } catch (...) {
    giveBackCopies(part);
    throw;
  }
}

void Matching::submitHalf(bool isSend, const MatchedRun& run, const std::shared_ptr<MatchedGroup>& group,
                          RequestPart& part) {
  MatchedRun whole = run;
  const CollectiveId key = idOf(run.signature);
  {
    const std::lock_guard lock(mutex_);
    checkOpen(*group);
    // What can be wrong with it is told now, not when its other half comes.
    const RunShape& shape = table_.get(run.signature, group).shape;
    const void* const buffer = isSend ? run.send : run.recv;
    if (shape.sendBytes != 0 && (buffer == nullptr || reinterpret_cast<uint64_t>(buffer) >> 48 != 0)) {
      throw Error(dfcclInvalidArgument,
                  "Rank " + std::to_string(rank_) + (isSend ? " sends to" : " receives from") +
                      " itself, and the buffer is " + (buffer == nullptr ? "null." : "no address of this process."),
                  "Pass a buffer of at least " + std::to_string(shape.sendBytes) + " bytes.",
                  {{"rank", std::to_string(rank_)}, {"bytes", std::to_string(shape.sendBytes)}});
    }
    Halves& halves = halves_[key];
    if (halves.waiting.empty() || halves.areSends == isSend) {
      halves.areSends = isSend;
      halves.waiting.push_back({run.send, run.recv, &part, group});
      return;
    }
    const Half& other = halves.waiting.front();
    if (isSend) {
      whole.recv = other.recv;
    } else {
      whole.send = other.send;
    }
    part.requests[1] = other.part->requests[0];
    halves.waiting.pop_front();
    if (halves.waiting.empty()) halves_.erase(key);
  }
  try {
    submit(whole, group, &part);
  } catch (...) {
    std::exchange(part.requests[1], nullptr)->partIsOver(dfcclAborted);
    throw;
  }
}

void Matching::waitOnStream(const Request& request, void* stream) {
  std::unique_lock lock(mutex_);
  if (request.isOver()) return;
  if (request.waitedFor == nullptr) {
    throw Error(dfcclUnavailable, "A stream can't wait for this request, which is on a CPU, or of several runs.",
                "Wait for it with dfcclWaitRun.");
  }
  MatchedCollective& entry = *request.waitedFor;
  const uint64_t runs = request.number;
  const Unlocked unlocked(lock, entry);
  backend_.waitOnStream(rank_, entry.index, stream, runs);
}

void Matching::clear() {
  const std::lock_guard lock(mutex_);
  table_.clear();
  pool_.freeUnused();
}

size_t Matching::halvesLeft() {
  const std::lock_guard lock(mutex_);
  size_t left = 0;
  for (const auto& [key, halves] : halves_) left += halves.waiting.size();
  return left;
}

}  // namespace dfccl
