#pragma once
// NCCL, loaded at run time: this project doesn't link it, only measures itself beside it.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dfccl::gpu::bench {

class Nccl {
 public:
  /// @param library path or name of libnccl.so.2. One communicator a device, as many as there are.
  /// @throws Error dfcclSystemError
  Nccl(const std::string& library, const std::vector<int>& devices);

  int version() const { return version_; }
  cudaStream_t stream(uint32_t rank) const { return streams_[rank]; }
  /// float32, sum; enqueued on the rank's stream, or on the one given.
  void allReduce(uint32_t rank, const void* send, void* recv, size_t count, cudaStream_t stream = nullptr);
  void groupStart();
  void groupEnd();

 private:
  void check(int result, const char* call) const;

  using Communicator = void*;
  int (*allReduce_)(const void*, void*, size_t, int, int, Communicator, cudaStream_t) = nullptr;
  int (*groupStart_)() = nullptr;
  int (*groupEnd_)() = nullptr;
  const char* (*errorString_)(int) = nullptr;
  int version_ = 0;
  std::vector<Communicator> communicators_;
  std::vector<cudaStream_t> streams_;
};

}  // namespace dfccl::gpu::bench
