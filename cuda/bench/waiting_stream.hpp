#pragma once
// A stream that waits for a word of the host's memory, without any of dfccl: for probes of what CUDA does beside it.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace dfccl::gpu::bench {

/// Zeroed words that devices read and write too.
inline volatile uint32_t* hostWords(size_t count) {
  void* words = nullptr;
  cudaHostAlloc(&words, count * sizeof(uint32_t), cudaHostAllocMapped);
  auto* const zeroed = static_cast<volatile uint32_t*>(words);
  for (size_t i = 0; i < count; ++i) zeroed[i] = 0;
  return zeroed;
}

/// A function of the driver's. @pre it has it.
template <class Function>
Function driverFunction(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result);
  return reinterpret_cast<Function>(function);
}

/// Lets the stream wait until the word is at least 1.
inline void letWait(cudaStream_t stream, volatile uint32_t* word) {
  static const auto wait =
      driverFunction<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>("cuStreamWaitValue32");
  wait(stream, reinterpret_cast<CUdeviceptr>(word), 1, CU_STREAM_WAIT_VALUE_GEQ);
}

/// Lets the stream store 1 into the word.
inline void letStore(cudaStream_t stream, volatile uint32_t* word) {
  static const auto store =
      driverFunction<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>("cuStreamWriteValue32");
  store(stream, reinterpret_cast<CUdeviceptr>(word), 1, CU_STREAM_WRITE_VALUE_DEFAULT);
}

}  // namespace dfccl::gpu::bench
