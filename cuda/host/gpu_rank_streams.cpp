// A rank's runs behind streams, and streams that wait for its runs.
#include "cpu/pause.hpp"
#include "host/gpu_rank.hpp"

namespace dfccl::gpu {

uint32_t GpuRank::submitOnStream(uint32_t index, const void* send, void* recv, cudaStream_t stream,
                                 RunCallback callback, void* argument, RunWindows windows) {
  streams_.checkStream(stream);
  streams_.willArrive();
  // The entry goes first: whatever the stream still has to do, nobody waits for this thread any more.
  const uint32_t slot = queues_->submit(index, send, recv, callback, argument, windows, kSqeBehindStream);
  if (slot == kFull) {
    streams_.wasRefused();
    return kFull;
  }
  const cudaError_t error = streams_.arrive(stream, slot);
  if (error != cudaSuccess) lose(std::string("CUDA refused to launch into a stream: ") + cudaGetErrorString(error));
  bell_.ring();
  return slot;
}

void GpuRank::waitOnStream(uint32_t index, cudaStream_t stream) {
  streams_.checkWaiting(stream);
  const uint32_t target = streams_.targetOf(index, queues_->issuedOf(index));
  // Of several ranks on a device each would have to be there before any may stay.
  const bool mayStay = onDevice_.isAlone();
  if (mayStay && !streams_.isAnnounced(index, target)) announceWait(index, target);
  streams_.wait(stream, index, target);
}

void GpuRank::announceWait(uint32_t index, uint32_t target) {
  uint64_t position = 0;
  while (!queues_->submitAwait(index, target, position)) {
    if (isLost()) return;
    cpuPause();
  }
  bell_.ring();
  // A stay that has not begun looks at the queue before it may leave.
  const auto isComing = [this] { return launched_.load(order::seqCst) > report_->begun.load(order::seqCst); };
  const auto isSeen = [&] { return report_->waitsSeen.load(order::relaxed) > position; };
  while (!isSeen() && !queues_->isTaken(position) && !isComing() && !isLost()) cpuPause();
  streams_.noteAnnounced(index, target);
}

void GpuRank::releaseStreams() {
  try {
    streams_.release([this](uint32_t index) { return queues_->issuedOf(index); });
  } catch (const Error&) {  // a device that is broken has let them go, with its error
  }
}

}  // namespace dfccl::gpu
