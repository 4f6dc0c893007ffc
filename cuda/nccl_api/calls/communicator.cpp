#include "nccl_api/calls/communicator.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <unordered_map>
#include <utility>

#include "entry_points.hpp"
#include "nccl_api/calls/falling_back.hpp"
#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {

void Communicator::checkReady() const {
  checkState();
  checkNotFinalized();
}

void Communicator::checkNotFinalized() const {
  if (isFinalized_.load(order::acquire) == 0) return;
  throw Failure(ncclInvalidUsage, "The communicator was finalized.",
                "Destroy it; for more operations make another one.");
}

void Communicator::checkHasRanks() const {
  if (state() != State::revoked) checkState();
}

void Communicator::checkState() const {
  switch (state()) {
    case State::ready:
      return;
    case State::fallenBack:
      throw Failure(ncclInvalidUsage, "The communicator is another NCCL's.", "Ask that of one of this library's.");
    case State::making:
      throw Failure(ncclInvalidArgument, "The communicator is still being made.",
                    "Wait until ncclCommGetAsyncError says something else than ncclInProgress.");
    case State::revoked:
      throw Failure(ncclInvalidUsage, "The communicator was revoked.",
                    "Shrink, grow or split it, and use what that makes; then destroy it.");
    case State::failed:
      throw Failure(static_cast<ncclResult_t>(error_.load(order::relaxed)), "The communicator could not be made.",
                    "Destroy it, and make another one.");
    case State::aborted:
      throw Failure(ncclInvalidUsage, "The communicator was aborted.", "Make another one.");
  }
}

void Communicator::become(const Name& name, int rank, Placed placed, const InStreams& inStreams) {
  const std::lock_guard lock(mutex_);
  if (state() != State::making) return;
  name_ = name;
  rank_ = rank;
  placed_ = std::move(placed);
  members_ = placed_.ranks;
  check(dfcclGroupCreate(members_.data(), size(), name.high, &group_, context()));
  constexpr int kMostMembers = 64;
  if (size() <= kMostMembers) {
    check(dfcclGroupRunInStreams(group_, inStreams.mostBytes, inStreams.mostBlocks, dfcclForItsStream));
  }
  state_.store(static_cast<uint32_t>(State::ready), order::release);
  made_.notify_all();
}

void Communicator::hasFallenBack() {
  const std::lock_guard lock(mutex_);
  if (state() == State::making) {
    state_.store(static_cast<uint32_t>(State::fallenBack), order::release);
    made_.notify_all();
  } else if (real_ != nullptr) {
    callReal<decltype(ncclCommAbort)>("ncclCommAbort", real_);  // it was aborted meanwhile
  }
}

void Communicator::failed(ncclResult_t result) {
  const std::lock_guard lock(mutex_);
  if (state() != State::making) return;
  error_.store(result, order::relaxed);
  state_.store(static_cast<uint32_t>(State::failed), order::release);
  made_.notify_all();
}

ncclResult_t Communicator::asyncError() {
  switch (state()) {
    case State::making:
      return ncclInProgress;
    case State::revoked:
      return ncclSuccess;  // what went wrong with its runs is over with them
    case State::fallenBack: {
      // Whoever asks found it still being made a moment ago, or it is made when the thread's group ends.
      ncclResult_t error = ncclInProgress;
      if (real_ != nullptr) callReal<decltype(ncclCommGetAsyncError)>("ncclCommGetAsyncError", real_, &error);
      return error;
    }
    case State::ready:
      if (splitsUnderWay_.load(order::acquire) != 0) return ncclInProgress;
      if (isDraining_.load(order::relaxed) != 0 && !isDrained()) return ncclInProgress;
      [[fallthrough]];
    default:
      return static_cast<ncclResult_t>(error_.load(order::relaxed));
  }
}

void Communicator::awaitMade() {
  std::unique_lock lock(mutex_);
  made_.wait(lock, [this] { return state() != State::making; });
}

void Communicator::endedSplit() {
  const std::lock_guard lock(mutex_);
  splitsUnderWay_.fetchSub(1, order::release);
  made_.notify_all();
}

void Communicator::awaitSplits() {
  std::unique_lock lock(mutex_);
  made_.wait(lock, [this] { return splitsUnderWay_.load(order::acquire) == 0; });
}

void Communicator::ended(dfcclResult_t status) {
  if (status != dfcclSuccess && state() == State::ready) error_.store(ncclRemoteError, order::relaxed);
  inFlight_.fetchSub(1, order::release);
}

/// Delivers what is over.
bool Communicator::isDrained() const {
  if (inFlight_.load(order::acquire) == 0) return true;
  check(dfcclPoll(nullptr, context()));
  return inFlight_.load(order::acquire) == 0;
}

void Communicator::finalize() {
  checkState();
  if (isFinalized_.exchange(1, order::acqRel) == 0) return;
  throw Failure(ncclInvalidArgument, "The communicator was finalized before.", "Destroy it.");
}

ncclResult_t Communicator::beginDrain() {
  isDraining_.store(1, order::relaxed);
  return asyncError();
}

void Communicator::drain() {
  constexpr int kAtOnce = 100;
  for (int looks = 0; !isDrained(); ++looks) {
    if (looks >= kAtOnce) std::this_thread::sleep_for(std::chrono::microseconds(looks < 10 * kAtOnce ? 20 : 500));
  }
}

void Communicator::revoke() {
  const std::lock_guard lock(mutex_);
  if (state() != State::ready) return;
  state_.store(static_cast<uint32_t>(State::revoked), order::release);
  check(dfcclGroupAbort(group_));
}

void Communicator::abort() {
  isCancelled.store(1, order::seqCst);
  const std::lock_guard lock(mutex_);
  const State before = state();
  state_.store(static_cast<uint32_t>(State::aborted), order::release);
  made_.notify_all();
  if (before == State::ready) check(dfcclGroupAbort(group_));
  if (before == State::fallenBack) callReal<decltype(ncclCommAbort)>("ncclCommAbort", real_);
}

void Communicator::leave() {
  isLeft_.store(1, order::seqCst);
  if (users_.load(order::seqCst) == 0) destroyGroup();
}

void Communicator::destroyGroup() {
  const std::lock_guard lock(mutex_);
  // dfcclInUse: runs that were given up are not over yet; the group ends with its world.
  if (dfcclGroup_t const group = std::exchange(group_, nullptr)) dfcclGroupDestroy(group);
}

Communicator::Use::Use(Communicator& communicator) : communicator_(communicator) {
  communicator_.users_.fetchAdd(1, order::seqCst);
  if (communicator_.isLeft_.load(order::seqCst) == 0) return;
  end();
  throw Failure(ncclInvalidUsage, "The communicator was destroyed, or aborted, in another thread.",
                "Make another one.");
}

void Communicator::Use::end() {
  // Whoever leaves looks whether anybody is in a call; this looks whether he has left: one of the two sees the other.
  if (communicator_.users_.fetchSub(1, order::seqCst) == 1 && communicator_.isLeft_.load(order::seqCst) != 0) {
    communicator_.destroyGroup();
  }
}

namespace {

struct Handles {
  std::mutex mutex;
  std::unordered_map<uintptr_t, std::shared_ptr<Communicator>> all;
  uintptr_t next = 0x6e63'636c'0000;  // no address of a program's, and never used again
  Atomic<uint64_t> removals;
};
/// What a thread found last, without the lock that all threads have in common.
struct LastFound {
  ncclComm_t handle = nullptr;
  uint64_t removals = 0;  // it holds while nothing has been removed since
  std::weak_ptr<Communicator> communicator;

  ~LastFound() { isGone = true; }
  /// The thread ends, or the process does, and what ends behind this one calls functions all the same.
  static inline thread_local bool isGone = false;
};

Handles& handles() {
  static Handles& kept = *new Handles;  // threads may ask while the process ends
  return kept;
}

[[noreturn]] void refuseHandle(ncclComm_t handle) {
  refuseArgument(handle == nullptr ? "The communicator is null." : "The communicator was destroyed, or never made.",
                 "Pass one that ncclCommInitRank or another of these functions has made, and destroy it last.");
}

}  // namespace

ncclComm_t Communicators::add(std::shared_ptr<Communicator> communicator) {
  Handles& kept = handles();
  const std::lock_guard lock(kept.mutex);
  kept.next += 16;
  kept.all.emplace(kept.next, std::move(communicator));
  return reinterpret_cast<ncclComm_t>(kept.next);
}

std::shared_ptr<Communicator> Communicators::find(ncclComm_t handle) {
  Handles& kept = handles();
  if (LastFound::isGone) {
    const std::lock_guard lock(kept.mutex);
    const auto found = kept.all.find(reinterpret_cast<uintptr_t>(handle));
    if (found == kept.all.end()) refuseHandle(handle);
    return found->second;
  }
  thread_local LastFound last;
  if (last.handle == handle && last.removals == kept.removals.load(order::acquire)) {
    if (std::shared_ptr<Communicator> found = last.communicator.lock()) return found;
  }
  const std::lock_guard lock(kept.mutex);
  const auto found = kept.all.find(reinterpret_cast<uintptr_t>(handle));
  if (found == kept.all.end()) refuseHandle(handle);
  last = {handle, kept.removals.load(order::relaxed), found->second};
  return found->second;
}

ncclComm_t Communicators::realOf(ncclComm_t handle) noexcept {
  Handles& kept = handles();
  const std::lock_guard lock(kept.mutex);
  const auto found = kept.all.find(reinterpret_cast<uintptr_t>(handle));
  return found == kept.all.end() ? nullptr : found->second->real();
}

std::shared_ptr<Communicator> Communicators::remove(ncclComm_t handle) {
  Handles& kept = handles();
  const std::lock_guard lock(kept.mutex);
  const auto found = kept.all.find(reinterpret_cast<uintptr_t>(handle));
  if (found == kept.all.end()) refuseHandle(handle);
  std::shared_ptr<Communicator> removed = std::move(found->second);
  kept.all.erase(found);
  kept.removals.fetchAdd(1, order::release);
  return removed;
}

std::shared_ptr<Communicator> readyCommunicator(ncclComm_t handle) {
  std::shared_ptr<Communicator> found = Communicators::find(handle);
  found->checkReady();
  return found;
}

std::shared_ptr<Communicator> communicatorWithRanks(ncclComm_t handle) {
  std::shared_ptr<Communicator> found = Communicators::find(handle);
  found->checkHasRanks();
  return found;
}

}  // namespace dfccl::nccl
