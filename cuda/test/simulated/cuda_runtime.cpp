// As much of CUDA's runtime as the GPU backend's host side uses, over the host's memory: so ranks on "GPUs", also as
// processes, run where there is none. Here: devices and errors.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

#include "simulated/call.hpp"
#include "simulated/current_device.hpp"
#include "simulated/multiprocessors.hpp"

using namespace dfccl::gpu::simulated;

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  expectRuntime();
  *device = currentDevice;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  expectRuntime();
  if (device < 0 || device >= Device::count()) return answer(cudaErrorInvalidDevice);
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
  *count = Device::count();
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  // Of the clock, in kilohertz: a nanosecond a cycle.
  *value = attribute == cudaDevAttrMultiProcessorCount    ? static_cast<int>(Multiprocessors::said())
           : attribute == cudaDevAttrPageableMemoryAccess ? 0
                                                          : 1'000'000;
  return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t) {
  if (limit != cudaLimitStackSize) {
    const Call call(currentOne(), unkindness().lockedCalls);
    return cudaSuccess;
  }
  const Call call(currentOne());
  if (unkindness().idleFrees.isOn()) currentOne().awaitIdle();
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  if (endsCaptures()) return answer(cudaErrorStreamCaptureUnsupported);
  Call call(currentOne(), unkindness().lockedCalls);
  call.release();
  currentOne().awaitIdle();
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return lastAnswer(true); }
cudaError_t cudaPeekAtLastError() { return lastAnswer(false); }
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorContextIsDestroyed:
      return "cudaErrorContextIsDestroyed";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    default:
      return "a simulated error";
  }
}
const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }
}
