#pragma once
// Ranks of NCCL's, each a thread. On GPUs, or on simulated devices; where there are fewer than ranks, ranks share them.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
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

namespace dfccl::nccl::test {

inline constexpr size_t kCount = 1000;  // of a buffer, where any number will do

inline int deviceCount() {
  int count = 0;
  REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
  return count;
}

/// A rank's device.
inline int deviceOf(int rank) { return rank % deviceCount(); }

/// Memory that ranks have done with, freed when all of them have. CUDA keeps the driver in cudaFree until the device is
/// idle, so a rank that frees while another's stream waits keeps out a third one on the same device, for whom it waits.
class Discarded {
 public:
  Discarded() { current() = this; }
  ~Discarded() {
    current() = nullptr;
    for (void* const memory : all_) cudaFree(memory);
  }
  Discarded(const Discarded&) = delete;
  Discarded& operator=(const Discarded&) = delete;

  /// While ranks run, or at once.
  static void discard(void* memory) {
    if (current() == nullptr) {
      cudaFree(memory);
      return;
    }
    const std::lock_guard lock(current()->mutex_);
    current()->all_.push_back(memory);
  }

 private:
  static Discarded*& current() {
    static Discarded* one = nullptr;
    return one;
  }
  std::mutex mutex_;
  std::vector<void*> all_;
};

/// Runs the same on each of so many threads, and waits for all.
inline void onRanks(int ranks, const std::function<void(int rank)>& run) {
  const Discarded discarded;
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&run, r] {
      cudaSetDevice(deviceOf(r));
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

/// As a program's own that wants to be asked whether it is made.
inline ncclConfig_t configThatDoesNotBlock() {
  ncclConfig_t config{};
  config.size = sizeof config;
  config.magic = kNcclMagic;
  config.version = kNcclVersion;
  config.maxCTAs = kNcclUnset;
  config.blocking = 0;
  return config;
}

/// A communicator of a rank, destroyed at the end.
class Comm {
 public:
  Comm(const ncclUniqueId& id, int ranks, int rank) { CHECK_NCCL(ncclCommInitRank(&comm_, ranks, id, rank)); }
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
  ~BufferOf() { Discarded::discard(data_); }
  BufferOf(const BufferOf&) = delete;
  BufferOf& operator=(const BufferOf&) = delete;

  /// All of it, or a part, while no stream uses it.
  void fill(T value, size_t from = 0, size_t count = ~size_t{0}) const {
    const std::vector<T> values(std::min(count, count_ - from), value);
    cudaMemcpy(data_ + from, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    // From pageable memory it may return before the device has the values, and the tests' streams don't wait for it.
    cudaStreamSynchronize(cudaStreamLegacy);
  }
  bool isAll(T value, size_t from = 0, size_t count = ~size_t{0}) const {
    std::vector<T> values(std::min(count, count_ - from));
    if (cudaMemcpy(values.data(), data_ + from, values.size() * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) {
      return false;
    }
    return std::all_of(values.begin(), values.end(), [value](T found) { return found == value; });
  }
  T* data() const { return data_; }
  operator void*() const { return data_; }

 private:
  const size_t count_;
  T* data_ = nullptr;
};
using Buffer = BufferOf<float>;

class RankStream {
 public:
  RankStream() {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    // Ranks are threads that share a device, and two graphs that are their streams' first work, launched at the same
    // moment, may run one after the other (decision 38).
    const BufferOf<char> memory(1, 0);
    cudaMemsetAsync(memory, 0, 1, stream_);
    cudaStreamSynchronize(stream_);
  }
  ~RankStream() { cudaStreamDestroy(stream_); }
  RankStream(const RankStream&) = delete;
  RankStream& operator=(const RankStream&) = delete;
  operator cudaStream_t() const { return stream_; }
  bool synchronize() const { return cudaStreamSynchronize(stream_) == cudaSuccess; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Adds up, on a stream, what this rank gives to a communicator, and looks at what comes of it.
inline void checkSum(ncclComm_t comm, float own, float sum) {
  const RankStream stream;
  const Buffer send(kCount, own), recv(kCount, 0);
  CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, stream));
  CHECK(stream.synchronize());
  CHECK(recv.isAll(sum));
}

}  // namespace dfccl::nccl::test
