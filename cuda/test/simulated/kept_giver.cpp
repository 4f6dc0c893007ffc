#include "simulated/kept_giver.hpp"

#include <utility>

#include "simulated/current_device.hpp"
#include "simulated/device.hpp"

namespace dfccl::gpu::simulated {
namespace {

struct Keeping {
  const Stream* stream = nullptr;
  std::function<void()> until;
  bool hasGiven = false;
};
thread_local Keeping keeping;

}  // namespace

void keepNextGiver(cudaStream_t stream, std::function<void()> until) {
  keeping = {&Device::streamOf(stream, currentDevice), std::move(until), false};
}

void noteGiven(const Stream& stream) { keeping.hasGiven |= keeping.stream == &stream; }

void keepGiver() {
  if (keeping.hasGiven) std::exchange(keeping, {}).until();
}

}  // namespace dfccl::gpu::simulated
