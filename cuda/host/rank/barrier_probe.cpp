#include "host/rank/barrier_probe.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "daemon/state/pending_runs.hpp"
#include "host/driver/stream_memory.hpp"
#include "os/tick_clock.hpp"

namespace dfccl::gpu {
namespace {

// A store takes a stream 3 us where the device has nothing else to do.
constexpr double kNextStreamMicros = 100;
// A stream takes 1,024 before it blocks its caller.
constexpr uint32_t kMostUnanswered = 128;

}  // namespace

BarrierProbe::BarrierProbe(int device)
    : device_(device),
      pinned_(kStreams * sizeof(Atomic<uint32_t>) + 128),
      answered_{new (pinned_.take(kStreams * sizeof(Atomic<uint32_t>))) Atomic<uint32_t>[kStreams] {}, kStreams} {
  const OnDevice here(device);
  int least = 0, greatest = 0;
  DFCCL_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  for (uint32_t i = 0; i < kStreams; ++i) {
    const int priority = std::min(least, greatest + static_cast<int>(i % 2));
    DFCCL_CUDA(cudaStreamCreateWithPriority(&asked_[i].stream, cudaStreamNonBlocking, priority));
  }
}

void BarrierProbe::Question::ask() {
  askedAt_ = readTicks();
  const uint32_t stream = streams_++;
  const OnDevice here(probe_.device_);
  const std::lock_guard lock(probe_.mutex_);
  Asked& asked = probe_.asked_[stream];
  const uint32_t answered = probe_.answered_[stream].load(order::acquire);
  // What is to come may have been asked before a barrier; so it never counts as this one's answer.
  numbers_[stream] = asked.count + 1;
  if (asked.count - answered >= kMostUnanswered) return;
  storeOnStream(asked.stream, &probe_.answered_[stream], ++asked.count);
}

bool BarrierProbe::Question::isAnswered() {
  const auto next = static_cast<uint64_t>(kNextStreamMicros * ticksPerMicrosecond());
  if (streams_ < kStreams && (streams_ == 0 || readTicks() - askedAt_ > next)) ask();
  for (uint32_t stream = 0; stream < streams_; ++stream) {
    if (!isBefore(probe_.answered_[stream].load(order::acquire), numbers_[stream])) return true;
  }
  return false;
}

bool BarrierProbe::isLeftOut() {
  static const char* const text = std::getenv("DFCCL_TRUST_DAEMONS");
  return text != nullptr && std::strcmp(text, "1") == 0;
}

}  // namespace dfccl::gpu
