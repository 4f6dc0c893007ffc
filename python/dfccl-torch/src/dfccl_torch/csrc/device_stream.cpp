// The only file that knows CUDA. Events, guards and streams are otherwise c10's, which are any device's.
#include "device_stream.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>

#include "error.hpp"

#ifdef DFCCL_TORCH_CUDA
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <mutex>
#endif

namespace dfccl_torch {

c10::Stream pooledStream(c10::Device device) {
  constexpr bool kIsUrgent = true;  // as NCCL's are: what waits for them is what the program has to do
  return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device, kIsUrgent);
}

c10::Stream currentStream(c10::Device device) { return c10::impl::VirtualGuardImpl(device.type()).getStream(device); }

#ifdef DFCCL_TORCH_CUDA

namespace {

struct QuietStreams {
  std::mutex mutex;
  std::array<cudaStream_t, C10_COMPILE_TIME_MAX_GPUS> made{};
};
/// A process that has used CUDA can't be forked and use it, so that children have no need of their own.
QuietStreams quiet;

}  // namespace

bool hasCuda() { return true; }

dfcclStream_t handleOf(const c10::Stream& stream) {
  if (stream.device_type() != c10::kCUDA) return nullptr;
  const cudaStream_t raw = c10::cuda::CUDAStream(stream).stream();
  return reinterpret_cast<dfcclStream_t>(raw != nullptr ? raw : cudaStreamLegacy);
}

bool isCapturing(const c10::Stream& stream) {
  if (stream.device_type() != c10::kCUDA) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(c10::cuda::CUDAStream(stream).stream(), &status));
  return status != cudaStreamCaptureStatusNone;
}

void prepareStreams(c10::Device device) {
  const std::lock_guard lock(quiet.mutex);
  cudaStream_t& stream = quiet.made.at(static_cast<size_t>(device.index()));
  if (stream != nullptr) return;
  const c10::DeviceGuard guard(device);
  C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
}

c10::Stream quietStream(c10::Device device) {
  const std::lock_guard lock(quiet.mutex);
  return c10::cuda::getStreamFromExternal(quiet.made.at(static_cast<size_t>(device.index())), device.index()).unwrap();
}

#else

namespace {

[[noreturn]] void refuseDevice(c10::Device device) {
  refuse("A tensor is on " + device.str() + ", and the extension was compiled for CPUs.",
         "Use a torch with CUDA, and install CUDA's toolkit, whose headers the extension needs (CUDA_HOME).");
}

}  // namespace

bool hasCuda() { return false; }
dfcclStream_t handleOf(const c10::Stream& /* there are none */) { return nullptr; }
bool isCapturing(const c10::Stream& /* there are none */) { return false; }
void prepareStreams(c10::Device device) { refuseDevice(device); }
c10::Stream quietStream(c10::Device device) { refuseDevice(device); }

#endif

}  // namespace dfccl_torch
