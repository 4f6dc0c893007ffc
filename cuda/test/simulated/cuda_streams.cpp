// The part of CUDA's runtime that is about streams, over simulated ones.
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "simulated/call.hpp"
#include "simulated/current_device.hpp"
#include "simulated/memory_table.hpp"

using namespace dfccl::gpu::simulated;

namespace {

/// A call about a stream: refused where it is none, or one that was destroyed.
template <class Act>
cudaError_t onStream(cudaStream_t handle, const Act& act) {
  Stream* const stream = Device::findStream(handle, currentDevice);
  if (stream == nullptr) return answer(errorOfMissing(handle));
  Call call(Device::at(stream->device()), unkindness().lockedCalls);
  return answer(act(*stream, call));
}

/// The same for one that a stream which captures allows as little as CUDA: it ends the capture.
template <class Act>
cudaError_t onStreamOutsideOfCapture(cudaStream_t handle, const Act& act) {
  return onStream(handle, [&](Stream& stream, Call& call) {
    if (stream.capture == nullptr) return act(stream, call);
    stream.capture->hasFailed = true;
    return cudaErrorStreamCaptureUnsupported;
  });
}

/// Pages of an arena that nobody has written to needn't be touched to be zero.
bool isGivenBack(void* memory, size_t bytes) {
  constexpr size_t kWorthIt = 1 << 20, kPage = 4096;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  return bytes >= kWorthIt && begin % kPage == 0 && bytes % kPage == 0 && madvise(memory, bytes, MADV_REMOVE) == 0;
}

/// Copies of pageable memory are over when the call returns.
cudaError_t putCopy(cudaStream_t handle, bool isPageable, const std::function<void()>& copy) {
  Stream* const stream = Device::findStream(handle, currentDevice);
  if (stream == nullptr) return answer(errorOfMissing(handle));
  Device& device = Device::at(stream->device());
  Call call(device);
  if (stream->capture != nullptr) {
    stream->captureNode(copy);
    return cudaSuccess;
  }
  device.copy(*stream, copy);
  call.release();
  if (isPageable) stream->synchronize();
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = Device::kLeastPriority;
  *greatest = Device::kGreatestPriority;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  const Call call(currentOne(), unkindness().lockedCalls);
  const auto order = (flags & cudaStreamNonBlocking) != 0 ? Stream::Order::free : Stream::Order::withLegacy;
  *stream = reinterpret_cast<cudaStream_t>(&currentOne().makeStream(priority, order));
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, Device::kLeastPriority);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread) {
    return answer(cudaErrorInvalidResourceHandle);
  }
  return onStream(handle, [](Stream& stream, Call&) {
    Device::at(stream.device()).destroyStream(stream);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return onStreamOutsideOfCapture(
      handle, [](Stream& stream, Call&) { return stream.isIdle() ? cudaSuccess : cudaErrorNotReady; });
}
cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return onStreamOutsideOfCapture(handle, [=](Stream& stream, Call&) {
    *device = stream.device();
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return onStream(handle, [=](Stream& stream, Call&) {
    *id = stream.id;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return onStream(handle, [=](Stream& stream, Call&) {
    *priority = stream.priority();
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return onStream(handle, [=](Stream& stream, Call&) {
    *flags = stream.order() == Stream::Order::free ? cudaStreamNonBlocking : cudaStreamDefault;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return onStreamOutsideOfCapture(handle, [](Stream& stream, Call& call) {
    call.release();
    stream.synchronize();
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return onStream(handle, [=](Stream& stream, Call&) {
    Device::at(stream.device()).order(stream);
    stream.put([=] { function(data); });
    return cudaSuccess;
  });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return putCopy(stream, isPageable(to) || isPageable(from), [=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return bytes == 0 ? cudaSuccess : putCopy(nullptr, true, [=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  return putCopy(stream, false, [=] {
    if (value != 0 || !isGivenBack(memory, bytes)) std::memset(memory, value, bytes);
  });
}
cudaError_t cudaMemset(void* memory, int value, size_t bytes) { return cudaMemsetAsync(memory, value, bytes, nullptr); }
}
