#pragma once
// A member's runs that graphs carry out: what its kernels need of the member, and which graphs still hold that.
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "device/captured_run.cuh"
#include "host/driver/memory.hpp"
#include "host/driver/stream_capture.hpp"
#include "world/backend.hpp"
#include "world/collective_spec.hpp"

namespace dfccl::gpu {

class CapturedMember {
 public:
  /// @throws Error dfcclUnavailable: no graph can carry it out.
  static void checkSpec(const CollectiveSpec& spec);

  /// @param notes in the host's memory, @param state on the device; both are zero, and stay while isHeld().
  CapturedMember(const CollectiveSpec& spec, uint32_t member, CapturedNotes& notes, CapturedState* state);

  /// All members have registered: their landing areas, as this one sees them, and their factors.
  void complete(const std::vector<uint8_t*>& landings, const std::vector<double>& scales);
  /// As a graph that has runs of it. Whoever captures holds it meanwhile.
  std::shared_ptr<const void> hold() const { return hold_; }
  /// Puts a run into a graph, behind what the capture's stream has been given, and behind this member's runs before.
  /// Calls CUDA: under no lock that others need. @throws Error dfcclSystemError
  CapturedPlace capture(const StreamCapture& capture, const void* send, void* recv);
  /// Runs that are under way, and those that come, end without a result.
  void end() { notes_.mustEnd.store(1, order::release); }
  Atomic<uint32_t>* mustEndOnDevice() const { return &state_->mustEnd; }

  /// Whether there is a graph with runs of it.
  bool isHeld() const { return hold_.use_count() > 1; }
  /// Whether one was launched before all members had registered.
  bool isAwaitingOthers() const {
    return notes_.isBegun.load(order::acquire) != 0 && notes_.isComplete.load(order::acquire) == 0;
  }
  /// Runs that came to no result, of all graphs.
  uint64_t ended() const { return notes_.ended.load(order::acquire); }

 private:
  /// Of graphs that are being captured, the newest ones.
  static constexpr size_t kMostCaptures = 16;

  CapturedNotes& notes_;
  CapturedState* const state_;
  CapturedRun run_{};  // but for its buffers
  std::mutex capturing_;
  std::vector<CapturedPlace> last_;
  const std::shared_ptr<const void> hold_;
};

}  // namespace dfccl::gpu
