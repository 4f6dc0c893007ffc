// As much of CUDA's runtime as the GPU backend's host side uses, over the host's memory: so ranks on "GPUs", also as
// processes, run where there is none. Device memory is a memfd a piece, which another process maps at another address.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "simulated/current_device.hpp"
#include "simulated/device.hpp"
#include "simulated/memory_kind.hpp"

using namespace dfccl::gpu;
using simulated::currentDevice;

namespace {

constexpr size_t kPage = 4096;

struct Piece {
  size_t bytes;
  int descriptor;
  int device;
  unsigned long long identity;
  bool isPool;
};

std::mutex mutex;
std::map<uintptr_t, Piece> pieces;   // of this process
std::map<uintptr_t, size_t> opened;  // of others'
std::map<uintptr_t, size_t> pinned;
unsigned long long identities = 0;

size_t rounded(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

cudaError_t allocate(void** memory, size_t bytes, bool isPool) {
  const int descriptor = memfd_create("simulated device", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(rounded(bytes))) != 0) {
    return cudaErrorMemoryAllocation;
  }
  void* mapped = mmap(nullptr, rounded(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) {
    close(descriptor);
    return cudaErrorMemoryAllocation;
  }
  const std::lock_guard lock(mutex);
  pieces[reinterpret_cast<uintptr_t>(mapped)] = {bytes, descriptor, currentDevice, ++identities, isPool};
  *memory = mapped;
  return cudaSuccess;
}

std::map<uintptr_t, Piece>::const_iterator pieceAt(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  auto found = pieces.upper_bound(at);
  if (found == pieces.begin()) return pieces.end();
  --found;
  return at - found->first < found->second.bytes ? found : pieces.end();
}

/// A stream waits until a word in memory has come to a value, counted round its wrap. It looks again and again, as a
/// device's does: whoever writes the word wakes nobody.
CUresult streamWaitValue32(CUstream handle, CUdeviceptr address, cuuint32_t value, unsigned) {
  auto& word = *reinterpret_cast<std::atomic<uint32_t>*>(address);
  simulated::Device::streamOf(handle, currentDevice).put([&word, value] {
    while (static_cast<int32_t>(word.load(std::memory_order_acquire) - value) < 0) usleep(20);
  });
  return CUDA_SUCCESS;
}

CUresult streamWriteValue32(CUstream handle, CUdeviceptr address, cuuint32_t value, unsigned) {
  auto& word = *reinterpret_cast<std::atomic<uint32_t>*>(address);
  simulated::Device::streamOf(handle, currentDevice).put([&word, value] {
    word.store(value, std::memory_order_seq_cst);
  });
  return CUDA_SUCCESS;
}

struct Handle {
  pid_t process;
  int descriptor;
  size_t bytes;
};
static_assert(sizeof(Handle) <= sizeof(cudaIpcMemHandle_t));

CUresult pointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  const std::lock_guard lock(mutex);
  const auto found = pieceAt(reinterpret_cast<const void*>(address));
  if (found == pieces.end()) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(value) = found->first;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(value) = found->second.bytes;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      *static_cast<unsigned long long*>(value) = std::getenv("SIMULATED_ALIKE") ? 1 : found->second.identity;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

bool simulated::isPageable(const void* address) {
  const std::lock_guard lock(mutex);
  if (pieceAt(address) != pieces.end()) return false;
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto above = pinned.upper_bound(at);
  if (above == pinned.begin()) return true;
  const auto& [begin, bytes] = *std::prev(above);
  return at - begin >= bytes;
}

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  *device = currentDevice;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  currentDevice = device;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "simulated GPU");
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* address, int bytes, int device) {
  std::snprintf(address, static_cast<size_t>(bytes), "0000:%02x:00.0", device);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int) {
  *value = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = simulated::Device::count();
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 1'000'000;  // of the clock, in kilohertz: a nanosecond a cycle
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t error) { return error == cudaSuccess ? "cudaSuccess" : "a simulated error"; }
const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }

cudaError_t cudaMalloc(void** memory, size_t bytes) { return allocate(memory, bytes, false); }
cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t) { return allocate(memory, bytes, true); }
cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  std::unique_lock lock(mutex);
  const auto found = pieces.find(reinterpret_cast<uintptr_t>(memory));
  if (found == pieces.end()) return cudaErrorInvalidValue;
  const int device = found->second.device;
  lock.unlock();
  simulated::Device::at(device).awaitIdle(true);
  lock.lock();
  munmap(memory, rounded(found->second.bytes));
  close(found->second.descriptor);
  pieces.erase(found);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  *memory = std::aligned_alloc(kPage, rounded(bytes));
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  const std::lock_guard lock(mutex);
  pinned[reinterpret_cast<uintptr_t>(*memory)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, size_t bytes) { return cudaHostAlloc(memory, bytes, 0); }
cudaError_t cudaFreeHost(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  simulated::Device::at(currentDevice).awaitIdle(true);
  const std::lock_guard lock(mutex);
  pinned.erase(reinterpret_cast<uintptr_t>(memory));
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  const std::lock_guard lock(mutex);
  const auto found = pieceAt(address);
  if (found == pieces.end()) return cudaErrorInvalidValue;
  attributes->type = cudaMemoryTypeDevice;
  attributes->device = found->second.device;
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  if (std::strcmp(name, "cuPointerGetAttribute") == 0) {
    *function = reinterpret_cast<void*>(&pointerGetAttribute);
  } else if (std::strcmp(name, "cuStreamWaitValue32") == 0) {
    *function = reinterpret_cast<void*>(&streamWaitValue32);
  } else if (std::strcmp(name, "cuStreamWriteValue32") == 0) {
    *function = reinterpret_cast<void*>(&streamWriteValue32);
  } else {
    return cudaErrorInvalidValue;
  }
  *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* made, void* memory) {
  const std::lock_guard lock(mutex);
  const auto found = pieces.find(reinterpret_cast<uintptr_t>(memory));
  if (found == pieces.end() || found->second.isPool) return cudaErrorInvalidValue;
  const Handle handle{getpid(), found->second.descriptor, found->second.bytes};
  std::memcpy(made, &handle, sizeof handle);
  return cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t made, unsigned) {
  Handle handle;
  std::memcpy(&handle, &made, sizeof handle);
  const std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return cudaErrorInvalidValue;
  void* mapped = mmap(nullptr, rounded(handle.bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (mapped == MAP_FAILED) return cudaErrorMapBufferObjectFailed;
  const std::lock_guard lock(mutex);
  opened[reinterpret_cast<uintptr_t>(mapped)] = rounded(handle.bytes);
  *memory = mapped;
  return cudaSuccess;
}
cudaError_t cudaIpcCloseMemHandle(void* memory) {
  const std::lock_guard lock(mutex);
  const auto found = opened.find(reinterpret_cast<uintptr_t>(memory));
  if (found == opened.end()) return cudaErrorInvalidValue;
  munmap(memory, found->second);
  opened.erase(found);
  return cudaSuccess;
}
}
