#pragma once
// A member's runs that are kernels of their own, of graphs or in streams: what those need of the member, and which
// graphs still hold that.
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "device/captured/captured_run.cuh"
#include "host/driver/memory.hpp"
#include "host/driver/stream_capture.hpp"
#include "world/backend.hpp"
#include "world/collective_spec.hpp"
#include "world/runs_in_streams.hpp"

namespace dfccl::gpu {

/// A run's, and by which windows others know them.
struct CapturedBuffers {
  const void* send;
  void* recv;
  RunWindows windows;
};

class CapturedMember {
 public:
  /// @throws Error dfcclUnavailable: no graph can carry it out.
  static void checkSpec(const CollectiveSpec& spec);
  static CapturedLayout layoutOf(const CollectiveSpec& spec);

  /// @param notes in the host's memory, @param state on the device; both are zero, and stay while isHeld(). @param
  /// known the rank's
  CapturedMember(const CollectiveSpec& spec, uint32_t member, CapturedNotes& notes, CapturedState* state,
                 KnownWindows* known);

  /// All members have registered: their landing areas, as this one sees them, their factors, and what names of their
  /// buffers mean here (null: they are addresses).
  void complete(const std::vector<uint8_t*>& landings, const std::vector<double>& scales,
                const std::vector<windows::Table>& windows);
  /// Whether its runs go directly where all buffers are within the members' reach.
  bool isLarge() const { return run_.layout.isLarge; }
  /// The same on all ranks, and of no other collective.
  const CollectiveId& key() const { return key_; }
  /// As a graph that has runs of it. Whoever captures holds it meanwhile.
  std::shared_ptr<const void> hold() const { return hold_; }
  /// Puts a run into a graph, behind what the capture's stream has been given, and behind this member's runs before.
  /// Calls CUDA: under no lock that others need. @throws Error dfcclSystemError
  CapturedPlace capture(const StreamCapture& capture, const CapturedBuffers& buffers);
  /// Held by whoever launches a run in a stream, from prepareLaunch() on until it is launched. Only they wait for it.
  std::mutex& launching() { return launching_; }
  /// A run that is to be a kernel in a stream. The stream gets a wait for the one before where that is in another
  /// stream: runs of a collective match by their order. @param streamId not another stream's, ever. @param isAwaited
  /// see CapturedRun. @throws Error
  CapturedRun prepareLaunch(cudaStream_t stream, uint64_t streamId, const CapturedBuffers& buffers, bool isAwaited);
  /// The last that was prepared could not be launched.
  void forgoLaunch() { --launched_; }
  /// What its kernels tell the host of their ends.
  const std::shared_ptr<RunsInStreams::Source>& source() const { return source_; }
  /// Of runs in streams, how many have begun, and how many are over.
  uint64_t begunInStreams() const { return notes_.begunInStreams.load(order::acquire); }
  uint64_t overInStreams() const { return notes_.overInStreams.load(order::acquire); }
  const Atomic<uint32_t>* overOnDevice() const { return &state_->overInStreams; }
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

  CapturedRun runOf(const CapturedBuffers& buffers) const;

  const CollectiveId key_;
  CapturedNotes& notes_;
  CapturedState* const state_;
  CapturedRun run_{};  // but for its buffers
  std::mutex capturing_;
  std::vector<CapturedPlace> last_;
  std::mutex launching_;
  uint64_t launched_ = 0;    // in streams; here and below, under launching_
  uint64_t lastStream_ = 0;  // of the last of them
  const std::shared_ptr<RunsInStreams::Source> source_;
  const std::shared_ptr<const void> hold_;
};

}  // namespace dfccl::gpu
