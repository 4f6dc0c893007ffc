#include "matching/matching.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "error.hpp"

namespace dfccl {
namespace {

void countDown(MatchedCollective& entry) {
  // The group first: once the collective has nothing in flight, it may be forgotten, with its hold on the group.
  entry.group->inFlight.fetchSub(1, order::acqRel);
  entry.inFlight.fetchSub(1, order::acqRel);
}

void bareRunIsOver(void* entry, dfcclResult_t) { countDown(*static_cast<MatchedCollective*>(entry)); }

void partIsOver(void* argument, dfcclResult_t status) {
  RequestPart& part = *static_cast<RequestPart*>(argument);
  if (status == dfcclSuccess && part.copyBytes != 0) std::memcpy(part.copyTo, part.copyFrom, part.copyBytes);
  for (Staged& piece : part.staged) {
    if (piece.memory != nullptr) part.pool->giveBack(piece);
  }
  countDown(*part.collective);
  Request* const requests[] = {part.requests[0], part.requests[1]};  // the part is gone with the first
  for (Request* request : requests) {
    if (request != nullptr) request->partIsOver(status);
  }
}

[[noreturn]] void refuseSubmission(uint32_t rank, uint32_t slot, bool isInOrder) {
  const std::string name = "Rank " + std::to_string(rank);
  if (slot == RankQueues::kNoMemory) {
    throw Error(dfcclOutOfMemory, name + " has no memory for another run that waits for its turn.",
                "Wait for some of them before you submit more.", {{"rank", std::to_string(rank)}});
  }
  throw Error(dfcclQueueFull,
              isInOrder ? name + " has as many runs in flight as its queues hold, in a world that keeps their order."
                        : name + " has runs on their way on as many streams as there can be.",
              "Try again after a completion (dfcclPoll, dfcclWait).", {{"rank", std::to_string(rank)}});
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
  if (const uint64_t inFlight = group.inFlight.load(order::acquire); inFlight != 0) {
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
    group.isAborted.store(1, order::release);
    table_.forEach([&](MatchedCollective& entry) {
      if (entry.group.get() == &group && entry.inFlight.load(order::acquire) != 0) {
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
    group.inFlight.fetchSub(ended.size(), order::acqRel);
  }
  for (RequestPart* part : ended) part->requests[0]->partIsOver(dfcclAborted);
}

void Matching::checkOpen(const MatchedGroup& group) const {
  if (group.isAborted.load(order::acquire) == 0) [[likely]]
    return;
  throw Error(dfcclAborted, "The group was given up on rank " + std::to_string(rank_) + ".",
              "Destroy it, and make another one.", {{"rank", std::to_string(rank_)}});
}

void Matching::abortRun(const Signature& signature, const std::shared_ptr<MatchedGroup>& group) {
  const std::lock_guard lock(mutex_);
  backend_.abortCollective(rank_, table_.get(signature, group).index);
}

/// The registration of a run's signature, which stays while the run is in flight. Under the lock.
MatchedCollective& Matching::pin(const MatchedRun& run, const std::shared_ptr<MatchedGroup>& group) {
  checkOpen(*group);
  MatchedCollective& entry = table_.get(run.signature, group);
  checkBuffers(entry, run.send, run.recv);
  entry.inFlight.fetchAdd(1, order::relaxed);
  group->inFlight.fetchAdd(1, order::relaxed);
  return entry;
}

void Matching::checkBuffers(MatchedCollective& entry, const void* send, void* recv) {
  if (!isAllowed(entry.shape, send, recv)) [[unlikely]] {
    checkRun(entry.shape, backend_.specOf(rank_, entry.index), rank_, send, recv);
  }
  if (!backend_.checksMemory() || entry.knows(send, recv)) return;
  backend_.checkHealth(rank_);
  const CollectiveSpec spec = backend_.specOf(rank_, entry.index);
  const RunMemory memory = backend_.checkMemory(rank_, spec, entry.shape, send, recv);
  entry.knownSend.remember(memory.send);
  entry.knownRecv.remember(memory.recv);
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
  const RunCallback callback = part != nullptr ? partIsOver : bareRunIsOver;
  void* const argument = part != nullptr ? static_cast<void*>(part) : &entry;
  if (part != nullptr) {
    part->collective = &entry;
    Request* const request = part->requests[0];
    if (request->parts == nullptr && backend_.checksMemory()) {
      request->waitedFor = &entry;
      request->number = backend_.queues(rank_).issuedOf(entry.index) + 1;
    }
  }
  RunWindows windows;
  if (entry.shape.namesWindows) {
    windows = backend_.windowsOf(rank_, entry.shape, send, recv);
    if (windows.send == 0) send = nullptr;
    if (windows.recv == 0) recv = nullptr;
  }
  const uint32_t slot =
      stream != nullptr ? backend_.submitOnStream(rank_, entry.index, send, recv, stream, callback, argument, windows)
                        : backend_.queues(rank_).submit(entry.index, send, recv, callback, argument, windows);
  if (!RankQueues::isTaken(slot)) refuseSubmission(rank_, slot, backend_.isInOrder());
}

void Matching::submit(const MatchedRun& run, const std::shared_ptr<MatchedGroup>& group, RequestPart* part) {
  std::unique_lock lock(mutex_);
  MatchedCollective& entry = pin(run, group);
  const void* send = run.send;
  void* recv = run.recv;
  try {
    const bool isReached = entry.isReached(send, entry.shape.sendBytes) && entry.isReached(recv, entry.shape.recvBytes);
    if (!isReached) {
      if (part == nullptr) {
        throw Error(dfcclInvalidArgument, "The run's buffers must be copied, and nothing was given to note that in.",
                    "Submit it with a request.");
      }
      lock.unlock();  // what is pinned stays
      bringIntoReach(entry, send, recv, *part);
      lock.lock();
    }
    queue(entry, send, recv, run.stream, part);
  } catch (...) {
    countDown(entry);
    if (part != nullptr) {
      for (Staged& piece : part->staged) {
        if (piece.memory != nullptr) pool_.giveBack(piece);
      }
    }
    throw;
  }
  lock.unlock();
  if (run.stream == nullptr) backend_.ring();
}

void Matching::submitHalf(bool isSend, const MatchedRun& run, const std::shared_ptr<MatchedGroup>& group,
                          RequestPart& part) {
  MatchedRun whole = run;
  const uint64_t key = idOf(run.signature).low;
  {
    const std::lock_guard lock(mutex_);
    checkOpen(*group);
    Halves& halves = halves_[key];
    if (halves.waiting.empty() || halves.areSends == isSend) {
      halves.areSends = isSend;
      halves.waiting.push_back({run.send, run.recv, &part, group});
      group->inFlight.fetchAdd(1, order::relaxed);
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
    group->inFlight.fetchSub(1, order::acqRel);
    throw;
  }
  group->inFlight.fetchSub(1, order::acqRel);
}

void Matching::waitOnStream(const Request& request, void* stream) {
  MatchedCollective* entry = nullptr;
  uint64_t runs = 0;
  {
    const std::lock_guard lock(mutex_);
    if (request.isOver()) return;
    if (request.waitedFor == nullptr) {
      throw Error(dfcclUnavailable, "A stream can't wait for this request, which is on a CPU, or of several runs.",
                  "Wait for it with dfcclWaitRun.");
    }
    entry = request.waitedFor;
    runs = request.number;
    entry->inFlight.fetchAdd(1, order::relaxed);  // it is not forgotten meanwhile
    entry->group->inFlight.fetchAdd(1, order::relaxed);
  }
  try {
    backend_.waitOnStream(rank_, entry->index, stream, runs);
  } catch (...) {
    countDown(*entry);
    throw;
  }
  countDown(*entry);
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
