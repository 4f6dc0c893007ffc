#pragma once
// What the tests of the simulated devices have in common: a device that is busy until it is let go, and a call on a
// thread of its own that is seen to be blocked, or to return.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "call_beside.hpp"
#include "simulated/modules.hpp"
#include "simulated/slices.hpp"
#include "word.hpp"

namespace dfccl::gpu::simulated::test {

using gpu::test::comesToHold;
using gpu::test::driverFunction;
using gpu::test::MemoryOperation;

inline cudaStream_t newStream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, flags) == cudaSuccess);
  return stream;
}

/// In the test's own memory, so that no call is made for it.
class Word : public gpu::test::WordAt {
 public:
  Word() : WordAt(&word_) {}
  ~Word() {
    open();
    cudaDeviceSynchronize();
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

 private:
  std::atomic<uint32_t> word_{0};
};

class BlockedCall : public gpu::test::CallBeside {
 public:
  using CallBeside::CallBeside;

  /// Comes to wait for the device to be idle, or for the lock; @return false where it returns instead.
  bool awaitsIdle(uint32_t threads = 1) const {
    return comesToHold([&] { return hasReturned() || threadsAwaitingIdle(0) == threads; }) && !hasReturned();
  }
  bool awaitsLock(uint32_t threads = 1) const {
    return comesToHold([&] { return hasReturned() || threadsAwaitingLock(0) >= threads; }) && !hasReturned();
  }
};

}  // namespace dfccl::gpu::simulated::test
