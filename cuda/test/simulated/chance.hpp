#pragma once
#include <chrono>

namespace dfccl::gpu::simulated {

/// May take the processor from this thread, as SIMULATED_PREEMPTIONS says.
void mayBePreempted();

/// Takes it for so long when the call of CUDA's that this thread is in is over.
void pauseAfterCall(std::chrono::milliseconds pause);
/// It is.
void callIsOver();

/// May make a kernel begin late, as SIMULATED_LATE_LAUNCHES says.
void mayBeLate();

}  // namespace dfccl::gpu::simulated
