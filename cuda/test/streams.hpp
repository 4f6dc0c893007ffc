#pragma once
// Streams of a program that uses ranks on GPUs, and threads beside it that CUDA keeps waiting.
#include <atomic>
#include <chrono>
#include <thread>

#include "support.hpp"

namespace dfccl::gpu::test {

/// A stream of a rank's device.
class Stream {
 public:
  explicit Stream(int device, int priority = 0, unsigned flags = cudaStreamNonBlocking) : device_(device) {
    cudaSetDevice(device);
    REQUIRE(cudaStreamCreateWithPriority(&stream_, flags, priority) == cudaSuccess);
  }
  ~Stream() {
    if (stream_ == nullptr) return;
    cudaSetDevice(device_);
    cudaStreamDestroy(stream_);
  }
  Stream(Stream&& other) noexcept : device_(other.device_), stream_(other.stream_) { other.stream_ = nullptr; }
  Stream& operator=(Stream&&) = delete;

  operator cudaStream_t() const { return stream_; }
  bool synchronize() const { return cudaStreamSynchronize(stream_) == cudaSuccess; }

 private:
  int device_;
  cudaStream_t stream_ = nullptr;
};

/// Another thread that frees memory of a device, which takes until the device is idle.
class Freeing {
 public:
  explicit Freeing(int device)
      : thread_([this, device] {
          cudaSetDevice(device);
          void* memory = nullptr;
          cudaMalloc(&memory, 4 << 20);
          isAboutToFree_ = true;
          cudaFree(memory);
        }) {
    while (!isAboutToFree_) std::this_thread::yield();
  }
  ~Freeing() { thread_.join(); }

 private:
  std::atomic<bool> isAboutToFree_{false};
  std::thread thread_;
};

/// Tries again while the queue is full, which a simulated daemon takes long to empty.
template <class Submit>
dfcclResult_t untilRoom(const Submit& submit) {
  dfcclResult_t result;
  while ((result = submit()) == dfcclQueueFull) std::this_thread::yield();
  return result;
}

/// Longer than a daemon stays that has nothing to do, and than any stay may be that nothing holds.
inline void outwaitStays() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

}  // namespace dfccl::gpu::test
