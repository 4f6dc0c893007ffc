// Beside device_allocator.cpp the only file that knows CUDA. Events, guards and streams are otherwise c10's, which are
// any device's.
#include "device_stream.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>

#include "error.hpp"

#ifdef DFCCL_TORCH_CUDA
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>
#endif

namespace dfccl_torch {

c10::Stream currentStream(c10::Device device) { return c10::impl::VirtualGuardImpl(device.type()).getStream(device); }

#ifdef DFCCL_TORCH_CUDA

namespace {

struct QuietStreams {
  std::mutex mutex;
  std::array<cudaStream_t, C10_COMPILE_TIME_MAX_GPUS> made{};
};
/// A process that has used CUDA can't be forked and use it, so that children have no need of their own.
QuietStreams quiet;

struct IdleStreams {
  std::mutex mutex;
  std::vector<c10::Stream> all;
};
IdleStreams& idle = *new IdleStreams;  // groups may be left at the process's end

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
  // Another thread may be capturing, which this isn't part of.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  const cudaError_t made = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaThreadExchangeStreamCaptureMode(&mode);
  C10_CUDA_CHECK(made);
}

c10::Stream quietStream(c10::Device device) {
  const std::lock_guard lock(quiet.mutex);
  return c10::cuda::getStreamFromExternal(quiet.made.at(static_cast<size_t>(device.index())), device.index()).unwrap();
}

c10::Stream groupStream(c10::Device device) {
  {
    const std::lock_guard lock(idle.mutex);
    const auto found =
        std::find_if(idle.all.begin(), idle.all.end(), [&](const auto& one) { return one.device() == device; });
    if (found != idle.all.end()) {
      const c10::Stream stream = *found;
      idle.all.erase(found);
      return stream;
    }
  }
  const c10::DeviceGuard guard(device);
  int least = 0, greatest = 0;
  C10_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  // As urgent as NCCL's: what waits for it is what the program has to do.
  cudaStream_t stream = nullptr;
  C10_CUDA_CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  return c10::cuda::getStreamFromExternal(stream, device.index()).unwrap();
}

void giveBackStream(const c10::Stream& stream) {
  const std::lock_guard lock(idle.mutex);
  idle.all.push_back(stream);
}

int multiprocessorsOf(c10::Device device) {
  int count = 0;
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device.index()));
  return count;
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
c10::Stream groupStream(c10::Device device) { refuseDevice(device); }
void giveBackStream(const c10::Stream& /* there are none */) {}
int multiprocessorsOf(c10::Device device) { refuseDevice(device); }

#endif

}  // namespace dfccl_torch
