#pragma once
// A thread that the host's scheduler keeps from going on just when it has given a stream something.
#include <cuda_runtime_api.h>

#include <functional>

namespace dfccl::gpu::simulated {

class Stream;

/// When this thread next gives the stream something, it calls `until` behind that call of CUDA's, and goes on when that
/// returns.
void keepNextGiver(cudaStream_t stream, std::function<void()> until);

/// This thread has given a stream something, in a call that is not over.
void noteGiven(const Stream& stream);
/// The call is over, and its lock is anybody's.
void keepGiver();

}  // namespace dfccl::gpu::simulated
