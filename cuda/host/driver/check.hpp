#pragma once
#include <cuda_runtime_api.h>

#include <string>

#include "base/error.hpp"

namespace dfccl::gpu {

/// @throws Error dfcclOutOfMemory or dfcclSystemError that names the call and what CUDA said.
inline void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  const bool isMemory = error == cudaErrorMemoryAllocation;
  throw Error(isMemory ? dfcclOutOfMemory : dfcclSystemError,
              std::string("CUDA refused ") + call + ": " + cudaGetErrorString(error) + ".",
              isMemory ? "Free device memory, or open the world with smaller limits."
                       : "Run `dfccl doctor`: it shows the driver, the devices and what they can do.",
              {{"call", call}, {"cuda", cudaGetErrorName(error)}});
}

#define DFCCL_CUDA(call) ::dfccl::gpu::check((call), #call)

/// Makes a device current and the former one again afterwards.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    DFCCL_CUDA(cudaGetDevice(&former_));
    DFCCL_CUDA(cudaSetDevice(device));
  }
  ~OnDevice() { cudaSetDevice(former_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int former_ = 0;
};

}  // namespace dfccl::gpu
