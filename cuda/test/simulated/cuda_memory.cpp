// The part of CUDA's runtime that is about memory.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "simulated/call.hpp"
#include "simulated/current_device.hpp"
#include "simulated/memory_table.hpp"

using namespace dfccl::gpu::simulated;

namespace {

cudaError_t given(void** result, void* memory) {
  if (memory == nullptr) return answer(cudaErrorMemoryAllocation);
  *result = memory;
  return cudaSuccess;
}

/// Gives memory back; the device must have nothing to do, and the lock is held until then.
cudaError_t dropWhenIdle(void* memory, int device) {
  const Call call(Device::at(device));
  if (unkindness().idleFrees.isOn()) Device::at(device).awaitIdle();
  dropPiece(memory);
  return cudaSuccess;
}

struct Handle {
  pid_t process;
  int descriptor;
  size_t bytes;
};
static_assert(sizeof(Handle) <= sizeof(cudaIpcMemHandle_t));

/// Whether the device must be idle for it, is not measured.
class IpcCall {
 public:
  IpcCall() : call_(currentOne(), unkindness().lockedCalls) {
    if (unkindness().idleIpc.isOn()) currentOne().awaitIdle();
  }

 private:
  const Call call_;
};

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  if (endsCaptures()) return answer(cudaErrorStreamCaptureUnsupported);
  const Call call(currentOne(), unkindness().lockedCalls);
  return given(memory, makeDevicePiece(bytes, Piece::Kind::device, currentDevice));
}
cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t) {
  const Call call(currentOne(), unkindness().lockedCalls);
  return given(memory, makeDevicePiece(bytes, Piece::Kind::pool, currentDevice));
}
cudaError_t cudaMallocFromPoolAsync(void** memory, size_t bytes, cudaMemPool_t, cudaStream_t stream) {
  return cudaMallocAsync(memory, bytes, stream);
}
cudaError_t cudaFree(void* memory) {
  if (endsCaptures()) return answer(cudaErrorStreamCaptureUnsupported);
  if (memory == nullptr) return cudaSuccess;
  const auto piece = pieceOf(memory);
  if (!piece || (piece->kind != Piece::Kind::device && piece->kind != Piece::Kind::pool)) {
    return answer(cudaErrorInvalidValue);
  }
  return dropWhenIdle(memory, piece->device);
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t handle) {
  Stream* const stream = Device::findStream(handle, currentDevice);
  if (stream == nullptr) return answer(errorOfMissing(handle));
  const auto piece = pieceOf(memory);
  if (!piece || piece->kind != Piece::Kind::pool) return answer(cudaErrorInvalidValue);
  Device& device = Device::at(stream->device());
  const Call call(device, unkindness().lockedCalls);
  device.order(*stream);
  stream->putBrief([memory] { dropPiece(memory); });
  return cudaSuccess;
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc*, size_t width, size_t height, unsigned) {
  return cudaMalloc(reinterpret_cast<void**>(array), width * (height == 0 ? 1 : height));
}
cudaError_t cudaFreeArray(cudaArray_t array) { return cudaFree(array); }

cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  if (endsCaptures()) return answer(cudaErrorStreamCaptureUnsupported);
  const Call call(currentOne(), unkindness().lockedCalls);
  return given(memory, makeHostPiece(bytes, currentDevice));
}
cudaError_t cudaMallocHost(void** memory, size_t bytes) { return cudaHostAlloc(memory, bytes, 0); }
cudaError_t cudaFreeHost(void* memory) {
  if (endsCaptures()) return answer(cudaErrorStreamCaptureUnsupported);
  if (memory == nullptr) return cudaSuccess;
  const auto piece = pieceOf(memory);
  if (!piece || piece->kind != Piece::Kind::host) return answer(cudaErrorInvalidValue);
  return dropWhenIdle(memory, currentDevice);
}
cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned) {
  if (endsCaptures()) return answer(cudaErrorStreamCaptureUnsupported);
  const Call call(currentOne(), unkindness().lockedCalls);
  if (memory == nullptr || bytes == 0) return answer(cudaErrorInvalidValue);
  return registerPiece(memory, bytes, currentDevice) ? cudaSuccess : answer(cudaErrorHostMemoryAlreadyRegistered);
}
cudaError_t cudaHostUnregister(void* memory) {
  if (endsCaptures()) return answer(cudaErrorStreamCaptureUnsupported);
  const auto piece = pieceOf(memory);
  if (!piece || piece->kind != Piece::Kind::registered) return answer(cudaErrorHostMemoryNotRegistered);
  return dropWhenIdle(memory, currentDevice);
}
cudaError_t cudaHostGetDevicePointer(void** device, void* memory, unsigned) {
  const Call call(currentOne(), unkindness().lockedAttributes);
  const auto piece = pieceAt(memory);
  if (!piece || !piece->isPinned()) return answer(cudaErrorInvalidValue);
  *device = memory;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  const Call call(currentOne(), unkindness().lockedAttributes);
  *attributes = {};
  const auto piece = pieceAt(address);
  if (!piece) {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = cudaInvalidDeviceId;
    attributes->hostPointer = const_cast<void*>(address);
    return cudaSuccess;
  }
  attributes->type = piece->isPinned() ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
  attributes->device = piece->device;
  attributes->devicePointer = const_cast<void*>(address);
  attributes->hostPointer = piece->isPinned() ? const_cast<void*>(address) : nullptr;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* unused, size_t* total) {
  const Call call(currentOne(), unkindness().lockedCalls);
  *unused = *total = size_t{64} << 30;
  return cudaSuccess;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* made, void* memory) {
  if (endsCaptures()) return answer(cudaErrorStreamCaptureUnsupported);
  const Call call(currentOne(), unkindness().lockedCalls);
  const auto piece = pieceOf(memory);
  if (!piece || piece->kind != Piece::Kind::device) return answer(cudaErrorInvalidValue);
  const Handle handle{getpid(), piece->descriptor, piece->bytes};
  std::memcpy(made, &handle, sizeof handle);
  return cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t made, unsigned) {
  if (endsCaptures()) return answer(cudaErrorStreamCaptureUnsupported);
  const IpcCall call;
  Handle handle;
  std::memcpy(&handle, &made, sizeof handle);
  const std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return answer(cudaErrorInvalidValue);
  *memory = openPiece(descriptor, handle.bytes, currentDevice);
  return *memory != nullptr ? cudaSuccess : answer(cudaErrorMapBufferObjectFailed);
}
cudaError_t cudaIpcCloseMemHandle(void* memory) {
  if (endsCaptures()) return answer(cudaErrorStreamCaptureUnsupported);
  const auto piece = pieceOf(memory);
  if (!piece || piece->kind != Piece::Kind::opened) return answer(cudaErrorInvalidValue);
  return dropWhenIdle(memory, currentDevice);
}
}
