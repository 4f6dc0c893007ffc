#include "cpu/worker_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <system_error>

#include "base/error.hpp"
#include "cpu/cpu_world.hpp"
#include "os/futex.hpp"
#include "reduce_copy/result_stores.hpp"

namespace dfccl {
namespace {

// Measured on 2 cores (docs/decisions/): a worker that spins this long between pieces of work saves most wake-ups,
// which cost the submitter 6-9 us each; one that keeps off for a microsecond after a helping caller doesn't slow tiny
// work.
constexpr double kSpinMicros = 50;
constexpr int kHoldOffPauses = 32;  // about half a microsecond
// Each look takes the caller's line away from it, which costs an eighth of an 8-byte collective at half a microsecond a
// look: with a caller that goes on helping, looks become rarer, to one in some 8 us.
constexpr int kMostHoldOffPauses = 512;
// Where the machine has fewer cores than threads that spin, a worker that holds off takes a core from the very caller
// that it keeps out of the way of, or from the one whom that waits for: so it sleeps, unknown to who rings.
// While the caller goes on and on helping, ever longer: eight processes on 2 cores spent a quarter of them on looks.
// Not where it only polls now and then, as then the runs are the worker's.
constexpr uint64_t kHoldOffNapMicros = 200, kMostHoldOffNapMicros = 800;
constexpr uint64_t kHelpsOfPolling = 16;  // in a nap, and two for each pass
constexpr int kMaxHoldOffs = 4;     // of a caller's pass over all ranks, before it counts as one with much to move
constexpr double kLookMicros = 20;  // between two looks at what else there is (CpuWorld::look), which may cost several
constexpr uint64_t kNapMicros = 1000;
constexpr uint32_t kMostNapDoublings = 5;
constexpr uint64_t kWatchMicros = 20'000;  // how often a world without progress looks for a deadlock

/// Waits for `pauses`, unless the caller has begun what takes long enough to share. @param seen such runs so far.
bool isInvited(int pauses, uint32_t& seen) {
  for (int i = 0; i < pauses; ++i) {
    const uint32_t now = ResultStores::slowRuns().load(order::relaxed);
    if (now != seen) {
      seen = now;
      return true;
    }
    cpuPause();
  }
  return false;
}

/// Whether the callers of all processes on this machine, and their workers, are more than it has cores.
bool isCrowded(uint32_t processes, size_t workers) {
  return processes > 1 && processes * (1 + workers) > std::max(1u, std::thread::hardware_concurrency());
}

CpuPlatform<>& threadPlatform() {
  thread_local CpuPlatform<> platform;
  return platform;
}

}  // namespace

void WorkerPool::start(uint32_t threads) {
  if (Segment* segment = world_.segment()) bell_ = &segment->area(segment->rank()).bell;
  try {
    for (uint32_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this, threads, firstRank = i * world_.size() / threads] { run(firstRank, threads); });
    }
  } catch (const std::system_error& e) {
    stop();
    throw Error(dfcclSystemError, std::string("A worker thread can't be started: ") + e.what() + ".",
                "Open the world with fewer workers, or raise the limit on threads (ulimit -u).",
                {{"workers", std::to_string(threads)}});
  }
}

void WorkerPool::stop() {
  stopping_.store(1, order::seqCst);
  bell_->fetchAdd(1, order::seqCst);
  wakeSleepers();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

// One function without calls between its parts: a step of a small collective is a few hundred instructions, and a tenth
// of them would be the calls'. (What a sanitizer adds to each access would make it take minutes to compile.)
#ifndef DFCCL_SANITIZED
[[gnu::flatten]]
#endif
bool WorkerPool::stepAll(CpuPlatform<>& platform, uint32_t first, bool stepsIdle) {
  bool any = false;
  const uint32_t count = world_.activeRanks();
  if (first >= count) first = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t rank = first + i < count ? first + i : first + i - count;
    if (stepsIdle || world_.local(rank).hasWork()) any |= world_.local(rank).step(platform);
  }
  return any;
}

bool WorkerPool::help(bool stepsIdle) {
  CpuPlatform<>& platform = threadPlatform();
  noteHelp();
  const bool any = stepAll(platform, 0, stepsIdle);
  // What the first ranks waited for has often come from the last ones.
  if (any && !stepsIdle) stepAll(platform, 0, false);
  noteHelp();
  if (any) {
    world_.afterStep(true);
    return true;
  }
  // Room may have come by a step of somebody's who doesn't look for it.
  world_.flushAll();
  if (world_.isInOrder()) watchNowAndThen();
  return false;
}

void WorkerPool::noteHelp() {
  if (!threads_.empty()) helps_.store(helps_.load(order::relaxed) + 1, order::relaxed);
}

// A caller that helps keeps the workers off, so they don't come to look.
void WorkerPool::watchNowAndThen() {
  const uint64_t now = readTicks();
  const uint64_t last = lastWatch_.load(order::relaxed);
  if (now - last < static_cast<uint64_t>(kWatchMicros * ticksPerMicrosecond())) return;
  lastWatch_.store(now, order::relaxed);
  world_.watch();
}

bool WorkerPool::helpRank(uint32_t rank) {
  noteHelp();
  const bool any = world_.rank(rank).step(threadPlatform());
  if (any) {
    world_.afterStep(true);
  } else {
    world_.rank(rank).flush();
  }
  return any;
}

bool WorkerPool::stepRank(uint32_t rank) { return world_.rank(rank).step(threadPlatform()); }

void WorkerPool::wake() {
  bell_->fetchAdd(1, order::seqCst);
  if (sleepers_.load(order::seqCst) != 0) wakeSleepers();
}

void WorkerPool::run(uint32_t firstRank, uint32_t workers) {
  CpuPlatform<>& platform = threadPlatform();
  const auto spinTicks = static_cast<uint64_t>(kSpinMicros * ticksPerMicrosecond());
  const bool napsWhileHeldOff = isCrowded(world_.processes(), workers);
  uint64_t idleSince = readTicks();
  const auto lookTicks = static_cast<uint64_t>(kLookMicros * ticksPerMicrosecond());
  uint64_t lookedAt = 0;
  bool isLooking = false;
  uint64_t seenHelps = 0;
  int holdOffs = kMaxHoldOffs;
  int holdOffPauses = kHoldOffPauses;
  uint64_t holdOffNap = kHoldOffNapMicros;
  uint32_t pauses = 0;
  uint32_t naps = 0;  // in a row, while other processes have to move on
  uint32_t seenSlowRuns = ResultStores::slowRuns().load(order::relaxed);
  while (stopping_.load(order::relaxed) == 0) {
    const uint32_t seenBell = bell_->load(order::seqCst);
    const uint64_t helps = helps_.load(order::relaxed);
    if (helps != seenHelps) {
      holdOffPauses = std::min(holdOffs == 1 ? 2 * holdOffPauses : kHoldOffPauses, kMostHoldOffPauses);
      seenHelps = helps;
      holdOffs = 0;
    }
    if (holdOffs < kMaxHoldOffs && (helps % 2 != 0 || holdOffs == 0)) {
      const int hold = holdOffs == 0 ? holdOffPauses : kHoldOffPauses;
      const bool isNapping = napsWhileHeldOff && hold == kMostHoldOffPauses;
      ++holdOffs;
      idleSince = readTicks();
      if (!isInvited(isNapping ? 1 : hold, seenSlowRuns)) {
        if (isNapping) {
          futexWait(&stopping_.value, 0, holdOffNap);
          const bool goesOn = helps_.load(order::relaxed) - helps > kHelpsOfPolling;
          holdOffNap = goesOn ? std::min(2 * holdOffNap, kMostHoldOffNapMicros) : kHoldOffNapMicros;
        }
        continue;
      }
    }
    holdOffNap = kHoldOffNapMicros;
    const bool any = stepAll(platform, firstRank, true);
    world_.afterStep(any);
    if (readTicks() - lookedAt > lookTicks) {
      isLooking = world_.look();
      lookedAt = readTicks();
    }
    if (any) {
      idleSince = readTicks();
      naps = 0;
      continue;
    }
    cpuPause();
    if (++pauses % 64 == 0) sched_yield();
    if (readTicks() - idleSince >= spinTicks) sleep(seenBell, isLooking, idleSince, naps);
  }
}

void WorkerPool::wakeSleepers() {
  world_.segment() == nullptr ? futexWakeAll(&bell_->value) : sharedFutexWakeAll(&bell_->value);
}

void WorkerPool::sleep(uint32_t seenBell, bool isLooking, uint64_t& idleSince, uint32_t& naps) {
  Segment* const segment = world_.segment();
  sleepers_.fetchAdd(1, order::seqCst);
  // Another process looks for sleepers after it has moved on, but doesn't wait until its stores are seen: once in a
  // long while both look too early. So naps are short at first.
  const bool awaitsPeers = segment != nullptr && (isLooking || world_.hasUnfinishedWork());
  if (awaitsPeers) segment->awaitPeers();
  // A ring between the last look and this one has changed the bell, and the wait returns at once.
  if (bell_->load(order::seqCst) == seenBell && stopping_.load(order::seqCst) == 0 && !world_.hasUnseenWork()) {
    if (segment == nullptr) {
      futexWait(&bell_->value, seenBell, kWatchMicros);
    } else {
      sharedFutexWait(&bell_->value, seenBell, awaitsPeers ? std::min(kNapMicros << naps, kWatchMicros) : kWatchMicros);
      naps = std::min(naps + 1, kMostNapDoublings);
    }
  }
  if (awaitsPeers) segment->stopAwaitingPeers(segment->rank());
  sleepers_.fetchSub(1, order::seqCst);
  world_.watch();
  idleSince = readTicks();
}

}  // namespace dfccl
