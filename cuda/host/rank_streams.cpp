#include "host/rank_streams.hpp"

#include <cuda.h>

#include <new>
#include <string>

namespace dfccl::gpu {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& remedy, int device) {
  throw Error(dfcclInvalidArgument, "The stream " + what + ".", remedy, {{"device", std::to_string(device)}});
}

using WaitValue32 = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

/// In the host's memory, in one line.
struct HostWords {
  Atomic<uint64_t> doorbell;
  Atomic<uint32_t> mustLeave;
};

/// The runtime has no call for it, and a program that links the driver's library doesn't start without one.
WaitValue32 findWaitValue32() {
  void* found = nullptr;
  constexpr unsigned kSince = 12000;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &found, kSince, cudaEnableDefault, &result);
  const bool isThere = error == cudaSuccess && result == cudaDriverEntryPointSuccess;
  return isThere ? reinterpret_cast<WaitValue32>(found) : nullptr;
}

/// nullptr where the driver has none.
WaitValue32 waitValue32() {
  static const WaitValue32 function = findWaitValue32();
  return function;
}

}  // namespace

RankStreams::RankStreams(DeviceArena& arena, PinnedMemory& pinned, const RankLimits& limits)
    : arena_(arena), before_(limits.collectives), announcedTargets_(limits.collectives) {
  const uint32_t capacity = NoticeRing::capacityFor(limits.completionSlots);
  NoticeRing::Header header;
  header.ready.store(kNoPending, order::relaxed);
  const std::vector<uint32_t> lastOfId(limits.collectives, kNoPending);
  pending_.notices = {arena.put(&header, 1),
                      reinterpret_cast<Atomic<uint64_t, Scope::device>*>(arena.allocate(capacity * sizeof(uint64_t))),
                      capacity};
  pending_.runs = {reinterpret_cast<PendingRun*>(arena.allocate(limits.completionSlots * sizeof(PendingRun))),
                   limits.completionSlots};
  pending_.lastOfId = {arena.put(lastOfId.data(), lastOfId.size()), lastOfId.size()};
  const auto table = [&]<class T>(Array<T>& array) {
    array = {reinterpret_cast<T*>(arena.allocate(limits.collectives * sizeof(T))), limits.collectives};
  };
  table(waiting_.completed);
  table(waiting_.awaited);
  table(waiting_.listed);
  waiting_.listedCount = reinterpret_cast<uint32_t*>(arena.allocate(sizeof(uint32_t)));
  auto& words = *new (pinned.take(sizeof(HostWords))) HostWords{};
  waiting_.mustLeave = &words.mustLeave;
  doorbell_ = &words.doorbell;
}

void RankStreams::checkStream(cudaStream_t stream) const {
  const int mine = arena_.device();
  const OnDevice here(mine);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &capture);
  cudaGetLastError();
  if (error != cudaSuccess) {
    refuse(std::string("can't be used: ") + cudaGetErrorString(error),
           "Pass a stream that is there and captures nothing.", mine);
  }
  if (capture != cudaStreamCaptureStatusNone) {
    refuse("captures a graph, and a run is submitted once, not with each launch of the graph",
           "Call this outside of the capture.", mine);
  }
  int device = -1;
  DFCCL_CUDA(cudaStreamGetDevice(stream, &device));
  if (device == mine) return;
  refuse("is one of device " + std::to_string(device) + ", and the rank is on device " + std::to_string(mine),
         "Pass a stream that was made after cudaSetDevice(" + std::to_string(mine) + ").", mine);
}

/// The daemon's own stream has the greatest priority. One of the same that waits may keep it from starting: seen on
/// H200s, where a test with 64 such streams hung.
void RankStreams::checkPriority(cudaStream_t stream) const {
  int least = 0, greatest = 0, own = 0;
  DFCCL_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  DFCCL_CUDA(cudaStreamGetPriority(stream, &own));
  if (own != greatest || least == greatest) return;
  refuse("has the greatest priority, which is the daemon's own: the daemon might have to start behind it",
         "Make it with a lower one: cudaStreamCreateWithPriority.", arena_.device());
}

cudaError_t RankStreams::arrive(cudaStream_t stream, uint32_t slot) {
  const OnDevice here(arena_.device());
  return launchArrive(pending_.notices, slot, doorbell_, stream);
}

void RankStreams::checkWaiting(cudaStream_t stream) const {
  checkStream(stream);
  const OnDevice here(arena_.device());
  checkPriority(stream);
  if (waitValue32() != nullptr) return;
  throw Error(dfcclUnavailable, "The driver lets no stream wait for a value in memory.",
              "Update the driver, or wait on the host.");
}

void RankStreams::wait(cudaStream_t stream, uint32_t index, uint32_t target) const {
  const OnDevice here(arena_.device());
  const CUresult result = waitValue32()(stream, reinterpret_cast<CUdeviceptr>(&waiting_.completed[index]), target,
                                        CU_STREAM_WAIT_VALUE_GEQ);
  if (result == CUDA_SUCCESS) return;
  throw Error(dfcclSystemError, "CUDA refused cuStreamWaitValue32, error " + std::to_string(result) + ".",
              "Look at what the stream did before: an earlier error stays with it.", {{"call", "cuStreamWaitValue32"}});
}

void RankStreams::retire(uint32_t index, uint64_t issued) {
  before_[index].store(targetOf(index, issued), order::relaxed);
}

}  // namespace dfccl::gpu
