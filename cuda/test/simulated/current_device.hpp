#pragma once

namespace dfccl::gpu::simulated {

/// This thread's, as cudaSetDevice() chose it.
inline thread_local int currentDevice = 0;

}  // namespace dfccl::gpu::simulated
