#pragma once
// Copies between the host and a rank's GPU, for callers without CUDA of their own.
#include <cstddef>

#include "host/driver/check.hpp"

namespace dfccl::gpu {

/// A stream of its own, which waits for no daemon and which none waits for. Never the legacy default stream.
class DeviceCopies {
 public:
  explicit DeviceCopies(int device);
  ~DeviceCopies();
  DeviceCopies(DeviceCopies&& other) noexcept;
  DeviceCopies& operator=(DeviceCopies&&) = delete;

  /// Each returns when it is done; any thread.
  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) const;
  void* allocateZeroed(size_t bytes) const;

 private:
  int device_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace dfccl::gpu
