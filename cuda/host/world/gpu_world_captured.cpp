// A world's runs that graphs carry out.
#include <algorithm>
#include <string>
#include <utility>

#include "daemon/state/windows.hpp"
#include "host/driver/pointer_attributes.hpp"
#include "host/driver/relaxed_capture.hpp"
#include "host/driver/stream_capture.hpp"
#include "host/world/gpu_world.hpp"

namespace dfccl::gpu {

void GpuWorld::readyCapture(uint32_t rank) {
  checkHealth(rank);
  std::unique_lock lock(mutex_);
  takeCapturedNotes(rank, lock);
}

/// The lock is open meanwhile: what serves the peers takes it, too.
void GpuWorld::takeCapturedNotes(uint32_t rank, std::unique_lock<std::mutex>& lock) {
  while (!ranks_[rank]->hasCapturedNotes()) {
    lock.unlock();
    std::unique_ptr<PinnedMemory> notes = HeldMembers::makeNotes();
    lock.lock();
    ranks_[rank]->addCapturedNotes(std::move(notes));
  }
}

CapturedPlace GpuWorld::captureRun(uint32_t rank, uint32_t index, const void* send, void* recv, void* handle) {
  auto* const stream = static_cast<cudaStream_t>(handle);
  checkHealth(rank);
  std::shared_ptr<CapturedMember> member;
  std::shared_ptr<const void> hold;
  RunShape shape;
  {
    const std::lock_guard lock(mutex_);
    const Registered& entry = registered(rank, index);
    if (entry.registration->isPoisoned()) {
      throw Error(dfcclAborted, "The collective was given up, so no graph can have runs of it.",
                  "Unregister it on all ranks, and register it anew.", {{"id", entry.spec.id.text()}});
    }
    member = entry.registration->memberHere(entry.member).captured();
    hold = member->hold();
    shape = entry.shape;
  }
  // Whose the stream is it doesn't tell while it captures. A graph may have nodes on several devices.
  const OnDevice here(ranks_[rank]->device());
  const RelaxedCapture relaxed;
  CapturedBuffers buffers{send, recv, {}};
  if (member->isLarge()) {
    // A window is that of an allocation, and a graph may find another one at the same address.
    buffers.windows =
        namesWindows_ ? RunWindows{windows::kUnmapped, windows::kUnmapped} : windowsOf(rank, shape, send, recv);
  }
  return member->capture(StreamCapture(stream), buffers);
}

/// By which windows the others know a large run's buffers: kUnmapped where a device may not reach them.
RunWindows GpuWorld::windowsOf(uint32_t rank, const RunShape& shape, const void* send, const void* recv) {
  const std::vector<int>& devices = gpuOptions_.devices;
  const bool isOnOne = std::all_of(devices.begin(), devices.end(), [&](int device) { return device == devices[0]; });
  if (isOnOne) return {};
  const OnDevice here(deviceOf(rank));
  RunWindows windows;
  if (shape.sendBytes != 0 && !isWithinReach(send)) windows.send = windows::kUnmapped;
  if (shape.recvBytes != 0 && !isWithinReach(recv)) windows.recv = windows::kUnmapped;
  return windows;
}

bool GpuWorld::isCaptureAwaited(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const Registered& entry = registered(rank, index);
  return entry.registration->memberHere(entry.member).captured()->isAwaitingOthers();
}

uint64_t GpuWorld::endedInGraphs(uint32_t rank) {
  const std::lock_guard lock(mutex_);
  return ranks_[rank]->endedInGraphs();
}

void GpuWorld::letGraphWait(uint32_t rank, const CapturedPlace& place, void* handle) {
  const OnDevice here(ranks_[rank]->device());
  const StreamCapture capture(static_cast<cudaStream_t>(handle));
  if (capture.id() != place.capture) {
    throw Error(dfcclInvalidArgument, "The stream captures another graph than the one that has the run.",
                "Let streams of one capture wait for its runs.", {{"rank", std::to_string(rank)}});
  }
  capture.letWait(static_cast<cudaGraphNode_t>(place.node));
}

}  // namespace dfccl::gpu
