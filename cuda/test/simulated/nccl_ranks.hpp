#pragma once
// Ranks of NCCL's, each a thread with a device of its own.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "entry_points.hpp"

#define CHECK_NCCL(call)               \
  do {                                 \
    const ncclResult_t answer_ = call; \
    INFO(ncclGetLastError(nullptr));   \
    CHECK(answer_ == ncclSuccess);     \
  } while (false)

namespace dfccl::gpu::simulated::test {

/// Runs the same on each of so many threads, and waits for all.
inline void onRanks(int ranks, const std::function<void(int rank)>& run) {
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&run, r] {
      cudaSetDevice(r);
      run(r);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class Buffer {
 public:
  Buffer(size_t count, float value) : count_(count) {
    void* memory = nullptr;
    cudaMalloc(&memory, count * sizeof(float));
    data_ = static_cast<float*>(memory);
    fill(value);
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void fill(float value) {
    for (size_t i = 0; i < count_; ++i) data_[i] = value;  // simulated devices have the host's memory
  }
  bool isAll(float value) const {
    for (size_t i = 0; i < count_; ++i) {
      if (data_[i] != value) return false;
    }
    return true;
  }
  float* data() { return data_; }
  operator void*() { return data_; }

 private:
  const size_t count_;
  float* data_ = nullptr;
};

class RankStream {
 public:
  RankStream() { cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }
  ~RankStream() { cudaStreamDestroy(stream_); }
  RankStream(const RankStream&) = delete;
  RankStream& operator=(const RankStream&) = delete;
  operator cudaStream_t() const { return stream_; }
  bool synchronize() const { return cudaStreamSynchronize(stream_) == cudaSuccess; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace dfccl::gpu::simulated::test
