#pragma once
// Ranks of NCCL's, each a thread with a device of its own.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "entry_points.hpp"

#define CHECK_NCCL(call)                          \
  do {                                            \
    const ncclResult_t answer_ = call;            \
    INFO(std::string(ncclGetLastError(nullptr))); \
    CHECK(answer_ == ncclSuccess);                \
  } while (false)

namespace dfccl::gpu::simulated::test {

inline constexpr size_t kCount = 1000;  // of a buffer, where any number will do

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

inline ncclUniqueId newId() {
  ncclUniqueId id{};
  CHECK_NCCL(ncclGetUniqueId(&id));
  return id;
}

/// A communicator of a rank, destroyed at the end.
class Comm {
 public:
  Comm(const ncclUniqueId& id, int ranks, int rank) { CHECK_NCCL(ncclCommInitRank(&comm_, ranks, id, rank)); }
  explicit Comm(ncclComm_t made) : comm_(made) {}
  ~Comm() { CHECK_NCCL(ncclCommDestroy(comm_)); }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  operator ncclComm_t() const { return comm_; }

 private:
  ncclComm_t comm_ = nullptr;
};

/// Memory of the current device.
template <class T>
class BufferOf {
 public:
  BufferOf(size_t count, T value) : count_(count) {
    void* memory = nullptr;
    cudaMalloc(&memory, count * sizeof(T));
    data_ = static_cast<T*>(memory);
    fill(value);
  }
  ~BufferOf() { cudaFree(data_); }
  BufferOf(const BufferOf&) = delete;
  BufferOf& operator=(const BufferOf&) = delete;

  void fill(T value) const { std::fill(data_, data_ + count_, value); }  // simulated devices have the host's memory
  bool isAll(T value, size_t from = 0, size_t count = ~size_t{0}) const {
    for (size_t i = from; i < count_ && i - from < count; ++i) {
      if (data_[i] != value) return false;
    }
    return true;
  }
  T* data() const { return data_; }
  T& operator[](size_t i) const { return data_[i]; }
  operator void*() const { return data_; }

 private:
  const size_t count_;
  T* data_ = nullptr;
};
using Buffer = BufferOf<float>;

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
