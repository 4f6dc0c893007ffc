#pragma once
// A stream's wait for a count of runs that whoever gave it can take back: a kernel of one thread, where a memory
// operation can't be. For streams that synchronize with the default one, which may get their wait too late for the
// daemon that it was to have (decision 40).
#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl::gpu {

/// What such a wait and whoever gave it tell each other, in the host's memory.
struct WaitNote {
  Atomic<uint32_t> isRetracted;  // the host's: the stream goes on as it is
  Atomic<uint32_t> isOver;       // the wait's last store
};

struct RetractableWait {
  const Atomic<uint32_t, Scope::device>* word;
  uint32_t value;  // counted round its wrap
  WaitNote* note;
};

/// Launches the kernel once on the current device, so that no later launch keeps streams back.
cudaError_t prepareRetractableWaits(cudaStream_t stream);
cudaError_t launchRetractableWait(const RetractableWait& wait, cudaStream_t stream);

}  // namespace dfccl::gpu
