#include "host/rank/completion_watcher.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "host/driver/own_thread.hpp"
#include "host/driver/process_end.hpp"
#include "os/tick_clock.hpp"

namespace dfccl::gpu {
namespace {

// While streams wait, memory that could be freed is looked at again so often.
constexpr std::chrono::milliseconds kFreeAgain(1);
// Whoever needs a completion sooner waits for it, and then looks himself.
constexpr long kPauseNanos = 20'000;
// The next burst often comes soon, and being asleep costs its submitter a call.
constexpr double kLingerMicros = 5000;

}  // namespace

CompletionWatcher::CompletionWatcher(Bell& bell, std::vector<std::unique_ptr<GpuRank>>& ranks)
    : bell_(bell), ranks_(ranks) {}

void CompletionWatcher::start() {
  delivers_ = std::vector<Atomic<uint32_t>>(ranks_.size());
  isLossKnown_.resize(ranks_.size());
  thread_ = std::thread([this] { run(); });
  freer_ = std::thread([this] { freeAsItComes(); });
}

void CompletionWatcher::stop() {
  {
    const std::lock_guard lock(garbageMutex_);
    stopping_.store(1, order::seqCst);
  }
  garbageCame_.notify_all();
  bell_.wake();
  if (thread_.joinable()) thread_.join();
  if (freer_.joinable()) freer_.join();
  freeGarbage(true);
}

void CompletionWatcher::setWaker(std::function<void(uint32_t)> waker) {
  const std::lock_guard lock(wakerMutex_);
  waker_ = std::move(waker);
}

void CompletionWatcher::freeLater(int device, void* memory) {
  {
    const std::lock_guard lock(garbageMutex_);
    garbage_.push_back({device, memory});
  }
  if (stopping_.load(order::seqCst) != 0) {
    freeGarbage(true);
    return;
  }
  garbageCame_.notify_all();
}

bool CompletionWatcher::freeGarbage(bool isEnd) {
  std::vector<Garbage> garbage;
  {
    const std::lock_guard lock(garbageMutex_);
    garbage.swap(garbage_);
  }
  if (garbage.empty()) return true;
  const ProcessEnd::Call call;
  if (!call.isAllowed()) return true;  // it ends with the process
  int former = 0;
  cudaGetDevice(&former);
  std::erase_if(garbage, [&](const Garbage& piece) {
    cudaSetDevice(piece.device);
    if (!isEnd) return tryToFree(piece);
    cudaFree(piece.memory);
    return true;
  });
  cudaSetDevice(former);
  const std::lock_guard lock(garbageMutex_);
  garbage_.insert(garbage_.end(), garbage.begin(), garbage.end());
  return garbage.empty();
}

/// cudaFree() keeps the driver to itself until the device is idle.
bool CompletionWatcher::tryToFree(const Garbage& piece) const {
  const auto free = [&] { cudaFree(piece.memory); };
  for (const auto& rank : ranks_) {
    if (rank && rank->device() == piece.device) return rank->tryWhileNobodyWaits(free);
  }
  free();
  return true;
}

bool CompletionWatcher::anyInFlight() const {
  for (const auto& rank : ranks_) {
    if (rank && rank->queues().hasClaimed()) return true;
  }
  return false;
}

void CompletionWatcher::lookForLoss(const GpuRank& rank) {
  if (!rank.isLost() || !lossHandler_ || isLossKnown_[rank.number()]) return;
  try {
    lossHandler_(rank.number());
    isLossKnown_[rank.number()] = true;
  } catch (const Error&) {
  }
}

/// @return whether anything is in flight there.
bool CompletionWatcher::lookAt(GpuRank& rank) {
  RankQueues& queues = rank.queues();
  if (!queues.hasClaimed()) return false;
  if (delivers_[rank.number()].load(order::relaxed) != 0) queues.deliver();
  if ((queues.hasPosted() || rank.isLost()) && queues.takeSleeper()) {
    const std::lock_guard lock(wakerMutex_);
    if (waker_) waker_(rank.number());
  }
  return true;
}

void CompletionWatcher::freeAsItComes() {
  if (!beginOwnThread("dfccl freer")) return;
  while (true) {
    {
      std::unique_lock lock(garbageMutex_);
      garbageCame_.wait(lock, [this] { return !garbage_.empty() || stopping_.load(order::seqCst) != 0; });
      if (stopping_.load(order::seqCst) != 0) return;
    }
    if (!freeGarbage(false)) std::this_thread::sleep_for(kFreeAgain);
  }
}

void CompletionWatcher::run() {
  beginOwnThread("dfccl watcher");
  uint64_t busyAt = readTicks();
  while (stopping_.load(order::relaxed) == 0) {
    const uint32_t seen = bell_.seen();
    bool isBusy = false;
    for (const auto& rank : ranks_) {
      if (!rank) continue;
      isBusy |= lookAt(*rank);
      lookForLoss(*rank);
    }
    if (isBusy) busyAt = readTicks();
    if (readTicks() - busyAt < static_cast<uint64_t>(kLingerMicros * ticksPerMicrosecond())) {
      const timespec time{0, kPauseNanos};
      nanosleep(&time, nullptr);
    } else {
      bell_.sleep(seen, 0, [this] { return anyInFlight() || stopping_.load(order::seqCst) != 0; });
      busyAt = readTicks();
    }
  }
}

}  // namespace dfccl::gpu
