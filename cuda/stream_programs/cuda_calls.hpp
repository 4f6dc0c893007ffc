#pragma once
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "stream_programs/features.hpp"

#if defined(DFCCL_SIMULATED_GPU)
// Simulated devices have what their tests use: what they lack is left out, and comes in when they get it.
#pragma weak cudaDeviceSetLimit
#pragma weak cudaEventCreateWithFlags
#pragma weak cudaEventDestroy
#pragma weak cudaEventRecord
#pragma weak cudaFreeAsync
#pragma weak cudaHostRegister
#pragma weak cudaHostUnregister
#pragma weak cudaStreamWaitEvent
#endif

namespace dfccl::gpu::programs {

#if defined(DFCCL_SIMULATED_GPU)
inline constexpr bool kIsSimulated = true;
inline Features leftOutByRuntime(Features features) {
  if (cudaDeviceSetLimit == nullptr) features.leaveOut(Feature::limits);
  if (cudaHostRegister == nullptr || cudaHostUnregister == nullptr) features.leaveOut(Feature::hostUnregister);
  if (cudaFreeAsync == nullptr) features.leaveOut(Feature::pools);
  if (cudaEventCreateWithFlags == nullptr || cudaEventRecord == nullptr || cudaStreamWaitEvent == nullptr) {
    features.leaveOut(Feature::events);
    features.leaveOut(Feature::streams);  // nothing else would tell when a destroyed one is done
  }
  return features;
}
#else
inline constexpr bool kIsSimulated = false;
inline Features leftOutByRuntime(Features features) { return features; }
#endif

inline void must(cudaError_t error, const char* call) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error));
}

#define PROGRAMS_CUDA(call) must((call), #call)

}  // namespace dfccl::gpu::programs
