#pragma once
#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>
#include <dfccl/dfccl.h>

#include <optional>

namespace dfccl_torch {

/// Whether this was compiled for tensors on GPUs.
bool hasCuda();
/// This thread's current stream of a GPU. @pre the device is one
c10::Stream currentStream(c10::Device device);
/// What a run is given: null for a CPU, and never null for a GPU, whose default stream has a name of its own.
dfcclStream_t handleOf(const c10::Stream& stream);
/// Whether what it is given becomes part of a graph.
bool isCapturing(const c10::Stream& stream);
/// Makes the stream that quietStream gives: beside streams that wait, CUDA may not come to it.
/// @throws DistBackendError where this extension was compiled without CUDA.
void prepareStreams(c10::Device device);
/// A stream of ours alone, in which nothing ever waits for a run: whatever follows in it begins soon.
c10::Stream quietStream(c10::Device device);

/// A place in a stream.
struct StreamMark {
  c10::Stream stream;
  c10::Event event;

  explicit StreamMark(const c10::Stream& where) : stream(where), event(where.device_type()) { event.record(where); }
};

/// One that nobody else has until it is given back, as torch's own are shared by all that ask for one.
/// @pre the device is a GPU
c10::Stream groupStream(c10::Device device);
/// What it has been given goes on. It is kept for the next: torch may know it as a stream that used some memory.
void giveBackStream(const c10::Stream& stream);
int multiprocessorsOf(c10::Device device);

/// While it lives, this thread's current stream is the device's quiet one; of a CPU, nothing.
class OnQuietStream {
 public:
  explicit OnQuietStream(c10::Device device) {
    if (!device.is_cpu()) guard_.emplace(quietStream(device));
  }

 private:
  std::optional<c10::StreamGuard> guard_;
};

}  // namespace dfccl_torch
