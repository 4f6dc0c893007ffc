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

/// The entry goes first: whatever the stream still has to do, nobody waits for this thread any more.
class GpuRank::EnteredStream final : public Backend::EnteredStream {
 public:
  EnteredStream(GpuRank& rank, cudaStream_t stream) : rank_(rank), stream_(stream), call_(*rank.waits_) {
    rank_.streams_.checkDevice(stream);
    line_ = rank_.streams_.enter(stream);
  }

  bool isIn() const { return line_ != nullptr; }
  uint32_t submit(uint32_t index, const void* send, void* recv, RunCallback callback, void* argument,
                  RunWindows windows) override {
    return rank_.queues_->submit(index, send, recv, callback, argument, windows, line_->next());
  }
  void arrive() override {
    try {
      line_->arrive(stream_);
    } catch (const Error& error) {
      rank_.lose(error.what());
      throw;
    }
    rank_.bell_.ring();
  }

 private:
  GpuRank& rank_;
  const cudaStream_t stream_;
  const DeviceWaits::Call call_;
  std::unique_ptr<RankStreams::Entered> line_;
};

std::unique_ptr<Backend::EnteredStream> GpuRank::enterStream(cudaStream_t stream) {
  auto entered = std::make_unique<EnteredStream>(*this, stream);
  if (!entered->isIn()) return nullptr;
  return entered;
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

void GpuRank::launchInStream(const CapturedRun* runs, uint32_t count, cudaStream_t stream) {
  const OnDevice here(device());
  cudaError_t error = cudaSuccess;
  waits_->launch([&] { error = launchCapturedRuns(runs, count, stream); });
  if (error != cudaSuccess) cudaGetLastError();  // an earlier one is the caller's
  check(error, "cudaLaunchKernel");
}

void GpuRank::waitOnHost(uint32_t index, uint64_t runs, const char* why) {
  sayOnce(why);
  constexpr uint32_t kLooksPerNap = 64;
  for (uint32_t look = 1; queues_->overOf(index) < runs && !isOver(); ++look) {
    look % kLooksPerNap == 0 ? std::this_thread::yield() : cpuPause();
  }
}

}  // namespace dfccl::gpu
