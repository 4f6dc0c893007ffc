#pragma once
#include <cuda_runtime_api.h>

#include "dfccl/daemon/pending_runs.hpp"

namespace dfccl::gpu {

/// Loads the kernel: under lazy loading its first launch would wait for a resident daemon.
cudaError_t prepareArrive();

/// Puts into `stream` that it has come to the run that has this completion slot.
/// @param doorbell in the host's memory; where no daemon is there to see the notice, it gets a value that it had not
/// before, once the notice is there.
cudaError_t launchArrive(const NoticeRing& notices, uint32_t slot, Atomic<uint64_t>* doorbell, cudaStream_t stream);

}  // namespace dfccl::gpu
