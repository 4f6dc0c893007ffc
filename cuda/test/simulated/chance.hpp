#pragma once

namespace dfccl::gpu::simulated {

/// May take the processor from this thread, as SIMULATED_PREEMPTIONS says.
void mayBePreempted();

/// May make a kernel begin late, as SIMULATED_LATE_LAUNCHES says.
void mayBeLate();

}  // namespace dfccl::gpu::simulated
