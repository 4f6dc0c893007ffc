// What a rank in a process of its own has mapped of its peers.
#include <chrono>
#include <thread>

#include "host/driver/own_thread.hpp"
#include "host/driver/process_end.hpp"
#include "host/world/joined_gpu_world.hpp"
#include "os/futex.hpp"

namespace dfccl::gpu {
namespace {

// Until then all ranks have come, or somebody is late, whom the runs that need him name.
constexpr uint64_t kArenaMillis = 5000;

}  // namespace

/// Maps what the others announce, on a thread of its own that nobody waits for: its calls of CUDA's take as long as
/// another thread keeps the driver to itself.
void JoinedGpuWorld::mapPeers() {
  if (!beginOwnThread("dfccl mapper", deviceOf(own_))) return;
  Atomic<uint32_t>& attention = segment_->area(own_).attention;
  while (stopping_.load(order::seqCst) == 0) {
    const uint32_t seen = attention.load(order::seqCst);
    bool isAll = true;
    {
      const ProcessEnd::Call call;
      if (!call.isAllowed()) return;
      try {
        isAll = peerWindows_.take();
        ownWindows_.exportWanted();
      } catch (const Error& error) {
        // The others are behind: no reason to end.
        if (error.status() != dfcclQueueFull) giveUp(error.what());
      }
    }
    noteMapped();
    sharedFutexWait(&attention.value, seen, isAll ? kPeriodMillis * 1000 : kRetryMicros);
  }
}

/// What the other threads have to know of that.
void JoinedGpuWorld::noteMapped() {
  bool isAnyFailed = false;
  {
    const std::lock_guard lock(mutex());
    for (uint32_t r = 0; r < segment_->ranks(); ++r) {
      if (r == own_) continue;
      if (arenasSeen_[r] == 0) arenasSeen_[r] = peerWindows_.firstOf(r).seenAt;
      if (peerWindows_.failureOf(r).empty() || !failures_[r].empty()) continue;
      failures_[r] = peerWindows_.failureOf(r);
      isAnyFailed = true;
    }
  }
  if (isAnyFailed) PeerWatch::alarm(*segment_);
}

/// From here on the ranks can reach each other's arenas, and whatever goes through them needs no mapping.
void JoinedGpuWorld::awaitArenas() {
  const auto isSeen = [this](uint32_t r) {
    const std::lock_guard lock(mutex());
    return r == own_ || !segment_->isLocal(r) || arenasSeen_[r] != 0 || !failures_[r].empty() ||
           !failures_[own_].empty();
  };
  const uint64_t begin = nowMillis();
  for (uint32_t r = 0; r < segment_->ranks(); ++r) {
    // Who never comes is named where a run waits for him.
    while (!isSeen(r) && segment_->presenceOf(r) <= Presence::joined && nowMillis() - begin < kArenaMillis) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace dfccl::gpu
