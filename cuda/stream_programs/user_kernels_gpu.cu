#include <algorithm>
#include <string>

#include "stream_programs/module_table.hpp"
#include "stream_programs/user_kernels.hpp"

namespace dfccl::gpu::programs {
namespace {

template <class T>
__global__ void fill(T* memory, Pattern pattern) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < pattern.count(); i += stride) {
    memory[i] = static_cast<T>(valueAt(pattern, i));
  }
}

template <class T>
__global__ void check(const T* memory, Pattern pattern, Verdict* verdict, uint32_t number) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  uint32_t wrong = 0;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < pattern.count(); i += stride) {
    wrong += memory[i] != static_cast<T>(valueAt(pattern, i));
  }
  if (wrong == 0) return;
  atomicAdd(&verdict->wrong, wrong);
  atomicExch(&verdict->first, number + 1);
}

__global__ void compute(uint32_t micros) {
  uint64_t start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < uint64_t{micros} * 1000);
}

constexpr uint32_t kThreads = 256, kMostBlocks = 32;

uint32_t blocksFor(const Pattern& pattern) {
  return static_cast<uint32_t>(std::clamp<uint64_t>(pattern.count() / (kThreads * 4), 1, kMostBlocks));
}

template <class Function>
void withType(ElementType type, const Function& function) {
  switch (type) {
    case ElementType::int32:
      return function(int32_t{});
    case ElementType::int64:
      return function(int64_t{});
    case ElementType::float32:
      return function(float{});
    default:
      return function(double{});
  }
}

/// A kernel as PTX, whose name makes it another one for the driver.
std::string codeOf(const std::string& name) {
  return ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry " + name +
         "(.param .u64 counter) {\n"
         "  .reg .b32 %r<2>;\n  .reg .b64 %rd<3>;\n"
         "  ld.param.u64 %rd1, [counter];\n  cvta.to.global.u64 %rd2, %rd1;\n"
         "  atom.global.add.u32 %r1, [%rd2], 1;\n  ret;\n}\n";
}

/// Loaded as a framework loads what it has compiled, and kept.
cudaError_t launchCompiled(uint32_t number, uint32_t* counter, cudaStream_t stream) {
  const std::string name = "compiled_" + std::to_string(number), code = codeOf(name);
  cudaLibrary_t library;
  cudaKernel_t kernel;
  cudaError_t error = cudaLibraryLoadData(&library, code.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (error == cudaSuccess) error = cudaLibraryGetKernel(&kernel, library, name.c_str());
  if (error != cudaSuccess) return error;
  void* arguments[] = {&counter};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0, stream);
}

}  // namespace

cudaError_t launchFill(void* memory, ElementType type, const Pattern& pattern, cudaStream_t stream) {
  withType(type, [&](auto zero) {
    using T = decltype(zero);
    fill<T><<<blocksFor(pattern), kThreads, 0, stream>>>(static_cast<T*>(memory), pattern);
  });
  return cudaGetLastError();
}

cudaError_t launchCheck(const void* memory, ElementType type, const Pattern& pattern, Verdict* verdict, uint32_t number,
                        cudaStream_t stream) {
  withType(type, [&](auto zero) {
    using T = decltype(zero);
    check<T><<<blocksFor(pattern), kThreads, 0, stream>>>(static_cast<const T*>(memory), pattern, verdict, number);
  });
  return cudaGetLastError();
}

cudaError_t launchCompute(uint32_t micros, cudaStream_t stream) {
  compute<<<4, kThreads, 0, stream>>>(micros);
  return cudaGetLastError();
}

cudaError_t launchOfModule(uint32_t number, uint32_t* counter, cudaStream_t stream) {
  return number < kModules ? kModuleTable[number](counter, stream) : launchCompiled(number, counter, stream);
}

Features leftOutHere(Features features) { return features; }

}  // namespace dfccl::gpu::programs
