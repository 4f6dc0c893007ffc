#pragma once
// The caller's streams and a rank's runs: a run that begins when a stream comes to it, and a stream that goes on when
// runs are over (decision 14). No thread of the host takes part in either.
#include <cstdint>
#include <vector>

#include "device/arrive.cuh"
#include "device/block_shared.cuh"
#include "host/memory.hpp"

namespace dfccl::gpu {

class RankStreams {
 public:
  /// Makes the tables in the device's memory and the doorbell in the host's.
  RankStreams(DeviceArena& arena, PinnedMemory& pinned, const RankLimits& limits);

  /// What the daemon sees of it.
  const PendingMemory& pending() const { return pending_; }
  const WaitingMemory& waiting() const { return waiting_; }

  /// @throws Error dfcclInvalidArgument where no run can be put behind this stream.
  void checkStream(cudaStream_t stream) const;
  /// Before the run is submitted, and what became of that.
  void willArrive() { announced_.fetchAdd(1, order::seqCst); }
  void wasRefused() { announced_.fetchSub(1, order::seqCst); }
  /// Puts the arrival at a run that was submitted into the stream.
  cudaError_t arrive(cudaStream_t stream, uint32_t slot);

  /// @throws Error dfcclInvalidArgument, dfcclUnavailable: no run can keep this stream waiting.
  void checkWaiting(cudaStream_t stream) const;
  /// What a collective's count is once `issued` runs are over, counted from its registration.
  uint32_t targetOf(uint32_t index, uint64_t issued) const {
    return before_[index].load(order::relaxed) + static_cast<uint32_t>(issued);
  }
  /// Whether a daemon knows that a stream waits for this, or has waited.
  bool isAnnounced(uint32_t index, uint32_t target) const {
    return announcedTargets_[index].load(order::acquire) == target;
  }
  void noteAnnounced(uint32_t index, uint32_t target) { announcedTargets_[index].store(target, order::release); }
  /// Lets the stream wait until a collective's count is `target`. @pre checkWaiting() @throws Error dfcclSystemError
  void wait(cudaStream_t stream, uint32_t index, uint32_t target) const;
  /// The daemon is to leave whatever waits.
  void letDaemonLeave() { waiting_.mustLeave->store(1, order::seqCst); }
  /// The place will have another collective, and counts on.
  void retire(uint32_t index, uint64_t issued);
  /// Nothing will complete any more: lets all streams that wait go on. @param issued of each place.
  template <class IssuedOf>
  void release(const IssuedOf& issued) {
    std::vector<uint32_t> all(before_.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = targetOf(i, issued(i));
    arena_.write(waiting_.completed.data(), all.data(), all.size() * sizeof all[0]);
  }

  // For the thread that starts daemons. A notice may come at any time; its bell rings after it. So what rang before a
  // launch is seen in that stay, and what rings after it asks for another.
  void noteLaunch() { rungAtLaunch_ = doorbell_->load(order::acquire); }
  bool hasRung() const { return doorbell_->load(order::acquire) != rungAtLaunch_; }
  /// Whether a stream is still to come to a run. @param taken notices that the daemon has taken.
  bool isAwaited(uint64_t taken) const { return announced_.load(order::seqCst) != taken; }

 private:
  void checkPriority(cudaStream_t stream) const;

  DeviceArena& arena_;
  PendingMemory pending_;
  WaitingMemory waiting_;
  Atomic<uint64_t>* doorbell_;
  uint64_t rungAtLaunch_ = 0;
  Atomic<uint64_t> announced_;                      // runs behind streams
  std::vector<Atomic<uint32_t>> before_;            // [index]: runs of the place's former collectives
  std::vector<Atomic<uint32_t>> announcedTargets_;  // [index]
};

}  // namespace dfccl::gpu
