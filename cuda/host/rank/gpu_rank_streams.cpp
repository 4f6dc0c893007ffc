// A rank's runs behind streams, and streams that wait for its runs.
#include <algorithm>
#include <cstdio>
#include <mutex>
#include <thread>

#include "host/rank/gpu_rank.hpp"
#include "os/pause.hpp"

namespace dfccl::gpu {
namespace {

void sayOnce(const char* why) {
  static std::once_flag isSaid;
  std::call_once(isSaid, [why] {
    std::fprintf(stderr,
                 "dfccl: streams can't wait for runs here, because %s: dfcclWaitOnStream waits on the host instead.\n",
                 why);
  });
}

}  // namespace

uint32_t GpuRank::submitOnStream(uint32_t index, const void* send, void* recv, cudaStream_t stream,
                                 RunCallback callback, void* argument, RunWindows windows) {
  const DeviceWaits::Call call(*waits_);
  streams_.checkDevice(stream);
  const auto entered = streams_.enter(stream);
  if (!entered) return RankQueues::kFull;
  // The entry goes first: whatever the stream still has to do, nobody waits for this thread any more.
  const uint32_t slot = queues_->submit(index, send, recv, callback, argument, windows, entered->next());
  if (!RankQueues::isTaken(slot)) return slot;
  try {
    entered->arrive(stream);
  } catch (const Error& error) {
    lose(error.what());
    throw;
  }
  bell_.ring();
  return slot;
}

void GpuRank::waitOnStream(uint32_t index, cudaStream_t stream, uint64_t runs) {
  const DeviceWaits::Call call(*waits_);
  streams_.checkDevice(stream);
  runs = std::min(runs, queues_->issuedOf(index));
  if (place_.number() == DeviceWaits::kNoPlace) return waitOnHost(index, runs, "the device has had too many ranks");
  if (const char* const why = waits_->obstacle()) return waitOnHost(index, runs, why);
  const uint32_t target = streams_.targetOf(index, runs);
  const bool isGiven = waits_->letWait(place_.number(), index, target, stream, streams_.isFree(stream),
                                       [&](WaitNote* note) { streams_.letWait(stream, index, target, note); });
  if (!isGiven) return waitOnHost(index, runs, "more streams wait than are kept account of");
  // Whoever lost the rank before this was awaited has let nobody go for it, and the rank was as if it were inside.
  if (isLost_.load(order::seqCst) != 0) streams_.letStreamsGo(stream_);
}

void GpuRank::waitOnHost(uint32_t index, uint64_t runs, const char* why) {
  sayOnce(why);
  constexpr uint32_t kLooksPerNap = 64;
  for (uint32_t look = 1; queues_->overOf(index) < runs && !isOver(); ++look) {
    look % kLooksPerNap == 0 ? std::this_thread::yield() : cpuPause();
  }
}

}  // namespace dfccl::gpu
