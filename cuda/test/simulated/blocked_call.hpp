#pragma once
// What the tests of the simulated devices have in common: a device that is busy until it is let go, and a call on a
// thread of its own that is seen to be blocked, or to return.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "simulated/modules.hpp"
#include "simulated/slices.hpp"

namespace dfccl::gpu::simulated::test {

/// Until a condition holds. @return false: it hasn't come to hold for so long that it never will.
inline bool comesToHold(const std::function<bool()>& condition,
                        std::chrono::milliseconds limit = std::chrono::seconds(20)) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

inline cudaStream_t newStream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, flags) == cudaSuccess);
  return stream;
}

template <class Function>
Function driverFunction(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  REQUIRE(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result) == cudaSuccess);
  return reinterpret_cast<Function>(function);
}
using MemoryOperation = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

/// A word, and streams that wait until it is opened.
class Word {
 public:
  ~Word() {
    open();
    cudaDeviceSynchronize();
  }
  void letWait(cudaStream_t stream) {
    static const auto wait = driverFunction<MemoryOperation>("cuStreamWaitValue32");
    REQUIRE(wait(stream, address(), 1, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
  }
  void letOpen(cudaStream_t stream) {
    static const auto write = driverFunction<MemoryOperation>("cuStreamWriteValue32");
    REQUIRE(write(stream, address(), 1, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS);
  }
  /// A kernel that spins.
  std::function<void()> spin() {
    return [this] {
      while (!isOpen()) {
        step();
        std::this_thread::yield();
      }
    };
  }
  void open() { word_ = 1; }
  bool isOpen() const { return word_ != 0; }

 private:
  CUdeviceptr address() { return reinterpret_cast<CUdeviceptr>(&word_); }
  std::atomic<uint32_t> word_{0};
};

/// A call, made by another thread.
class BlockedCall {
 public:
  explicit BlockedCall(std::function<void()> call)
      : thread_([this, call = std::move(call)] {
          call();
          hasReturned_ = true;
        }) {}
  ~BlockedCall() { thread_.join(); }

  bool hasReturned() const { return hasReturned_; }
  bool returns() const {
    return comesToHold([this] { return hasReturned(); });
  }
  /// Comes to wait for the device to be idle, or for the lock; @return false where it returns instead.
  bool awaitsIdle(uint32_t threads = 1) const {
    return comesToHold([&] { return hasReturned() || threadsAwaitingIdle(0) == threads; }) && !hasReturned();
  }
  bool awaitsLock(uint32_t threads = 1) const {
    return comesToHold([&] { return hasReturned() || threadsAwaitingLock(0) == threads; }) && !hasReturned();
  }

 private:
  std::atomic<bool> hasReturned_{false};
  std::thread thread_;
};

}  // namespace dfccl::gpu::simulated::test
