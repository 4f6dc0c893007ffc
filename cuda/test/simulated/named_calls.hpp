#pragma once
// Calls of CUDA by what they wait for on a simulated device (decision 20's table).
#include <functional>
#include <vector>

#include "simulated/blocked_call.hpp"
#include "simulated/call.hpp"
#include "simulated/unkindness.hpp"

namespace dfccl::gpu::simulated::test {

struct NamedCall {
  const char* name;
  std::function<void()> make;
};

inline void* allocated() {
  void* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 4096) == cudaSuccess);
  return memory;
}
inline void* pinned() {
  void* memory = nullptr;
  REQUIRE(cudaMallocHost(&memory, 4096) == cudaSuccess);
  return memory;
}
alignas(4096) inline char registered[4096];

inline int newModule() {
  static int last = 0;
  return ++last;
}

/// What decision 20 has in its right column. Each is made with what it needs, once.
inline std::vector<NamedCall> idleCalls(cudaStream_t stream) {
  void *const memory = allocated(), *const host = pinned();
  cudaArray_t array = nullptr;
  REQUIRE(cudaMallocArray(&array, nullptr, 64, 64, 0) == cudaSuccess);
  REQUIRE(cudaHostRegister(registered, sizeof registered, 0) == cudaSuccess);
  return {
      {"cudaFree", [=] { cudaFree(memory); }},
      {"cudaFreeHost", [=] { cudaFreeHost(host); }},
      {"cudaFreeArray", [=] { cudaFreeArray(array); }},
      {"cudaHostUnregister", [] { cudaHostUnregister(registered); }},
      {"cudaDeviceSetLimit of the stack", [] { cudaDeviceSetLimit(cudaLimitStackSize, 64 << 10); }},
      {"cuModuleLoadData",
       [] {
         CUmodule module = nullptr;
         driverFunction<CUresult (*)(CUmodule*, const void*)>("cuModuleLoadData")(&module, "");
       }},
      {"the first launch of a kernel", [=] { launchUserKernel(stream, newModule(), [] {}); }},
  };
}

/// What returns at once, but not while another thread holds the lock.
inline std::vector<NamedCall> lockedCalls(cudaStream_t stream) {
  static cudaEvent_t event = nullptr;
  if (event == nullptr) REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
  void* const memory = allocated();
  return {
      {"cudaMalloc", [] { allocated(); }},
      {"cudaMallocAsync",
       [=] {
         void* pooled = nullptr;
         cudaMallocAsync(&pooled, 64, stream);
         cudaFreeAsync(pooled, stream);
       }},
      {"cudaMallocHost", [] { pinned(); }},
      {"a stream made and destroyed", [] { cudaStreamDestroy(newStream()); }},
      {"cudaStreamQuery", [=] { cudaStreamQuery(stream); }},
      {"cudaStreamSynchronize", [=] { cudaStreamSynchronize(stream); }},
      {"cudaEventQuery", [] { cudaEventQuery(event); }},
      {"cudaEventRecord", [=] { cudaEventRecord(event, stream); }},
      {"cudaStreamWaitEvent", [=] { cudaStreamWaitEvent(stream, event, 0); }},
      {"cudaIpcGetMemHandle",
       [=] {
         cudaIpcMemHandle_t handle;
         cudaIpcGetMemHandle(&handle, memory);
       }},
      {"cudaLaunchHostFunc",
       [=] {
         cudaLaunchHostFunc(
             stream, [](void*) {}, nullptr);
       }},
  };
}

/// What has waited for the lock always.
inline std::vector<NamedCall> launches(cudaStream_t stream, int module) {
  void *const memory = allocated(), *const host = pinned();
  return {
      {"a launch", [=] { launchUserKernel(stream, module, [] {}); }},
      {"cudaMemcpyAsync", [=] { cudaMemcpyAsync(memory, host, 64, cudaMemcpyHostToDevice, stream); }},
      {"cudaMemsetAsync", [=] { cudaMemsetAsync(memory, 0, 64, stream); }},
  };
}

}  // namespace dfccl::gpu::simulated::test
