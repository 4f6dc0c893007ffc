#pragma once
// What keeps streams back until a test lets them go.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <new>

namespace dfccl::gpu::test {

template <class Function>
Function driverFunction(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  REQUIRE(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result) == cudaSuccess);
  return reinterpret_cast<Function>(function);
}
using MemoryOperation = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

/// A word that devices see, and streams that wait until it is opened.
class WordAt {
 public:
  explicit WordAt(std::atomic<uint32_t>* word) : word_(word) {}
  WordAt(const WordAt&) = delete;
  WordAt& operator=(const WordAt&) = delete;

  void letWait(cudaStream_t stream) {
    static const auto wait = driverFunction<MemoryOperation>("cuStreamWaitValue32");
    REQUIRE(wait(stream, address(), 1, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
  }
  void letOpen(cudaStream_t stream) {
    static const auto write = driverFunction<MemoryOperation>("cuStreamWriteValue32");
    REQUIRE(write(stream, address(), 1, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS);
  }
  void open() { *word_ = 1; }
  bool isOpen() const { return *word_ != 0; }

 protected:
  CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(word_); }

 private:
  std::atomic<uint32_t>* const word_;
};

/// One in pinned memory of the host's.
class Word : public WordAt {
 public:
  Word() : WordAt(new (pinned()) std::atomic<uint32_t>(0)) {}
  ~Word() {
    open();
    cudaDeviceSynchronize();
    cudaFreeHost(reinterpret_cast<void*>(address()));
  }

 private:
  static void* pinned() {
    void* memory = nullptr;
    REQUIRE(cudaMallocHost(&memory, sizeof(std::atomic<uint32_t>)) == cudaSuccess);
    return memory;
  }
};

}  // namespace dfccl::gpu::test
