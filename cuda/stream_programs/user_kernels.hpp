#pragma once
// The compute kernels of a program: on a GPU kernels, on simulated devices whatever stands for them.
#include <cuda_runtime_api.h>

#include <cstdint>

#include "stream_programs/features.hpp"
#include "stream_programs/pattern.hpp"

namespace dfccl::gpu::programs {

/// On the device: what kernels have found wrong.
struct Verdict {
  uint32_t wrong;  // elements
  uint32_t first;  // a check that found some, plus one
};

/// Modules of one kernel each, that CUDA loads when they are first used.
inline constexpr uint32_t kModules = 64;

/// Writes a buffer's pattern.
cudaError_t launchFill(void* memory, ElementType type, const Pattern& pattern, cudaStream_t stream);
/// Compares a buffer with its pattern. @param check its number
cudaError_t launchCheck(const void* memory, ElementType type, const Pattern& pattern, Verdict* verdict, uint32_t check,
                        cudaStream_t stream);
/// Computes for about so long.
cudaError_t launchCompute(uint32_t micros, cudaStream_t stream);
/// Adds 1 to a counter of the device, by a kernel of a module of its own: the first kModules of a process are there and
/// not loaded; whatever comes later is handed to the driver anew.
cudaError_t launchOfModule(uint32_t number, uint32_t* counter, cudaStream_t stream);

/// What this device can't do, besides what CUDA's runtime leaves out.
Features leftOutHere(Features features);

}  // namespace dfccl::gpu::programs
