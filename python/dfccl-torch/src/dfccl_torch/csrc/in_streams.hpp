#pragma once
#include <c10/core/Device.h>

namespace dfccl_torch {

/// DFCCL_IN_STREAMS=1, on all ranks: collectives on GPUs without a tag are kernels in streams, as NCCL's are, and no
/// work of a daemon's: without async_op in the stream that is current, else in one of their group's. So those of a
/// stream come one behind the other, and ranks have to issue them in one order. Messages, and what has a tag, are as
/// ever.
/// @throws DistBackendError where it is set to something else.
bool isInStreamsSet();

/// Whether what this thread issues on the device now should be such a kernel. Not where the current stream captures:
/// what a graph has is one in any case.
bool wantsStreams(c10::Device device);

/// Whether a GPU has room for kernels that wait in streams, as libnccl.so.2 asks for it: a hardware queue for each of a
/// few streams, since a kernel that waits keeps what else is in its queue, and beside a daemon a multiprocessor for
/// each queue.
bool hasRoomInStreams(c10::Device device);

}  // namespace dfccl_torch
