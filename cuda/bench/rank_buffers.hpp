#pragma once
// What a measured rank has on its device.
#include <cuda_runtime_api.h>

#include "bench/seats.hpp"
#include "bench/timing.hpp"

namespace dfccl::gpu::bench {

inline const char* kindOf(const Seat& seat) {
  if (seat.machines > 1) return "machines";
  return seat.isProcess ? "processes" : "threads";
}

/// Floats on the seat's device: the user's own, or the library's, of which it needn't ask at every run whether they are
/// still the same.
class Floats {
 public:
  explicit Floats(uint64_t count, dfcclRankCtx_t allocator = nullptr) : count_(count), allocator_(allocator) {
    const size_t bytes = count * sizeof(float);
    if (allocator_ == nullptr) {
      DFCCL_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), bytes));
    } else {
      DFCCL_EXPECT(dfcclAllocate(bytes, reinterpret_cast<void**>(&data_), allocator_));
    }
  }
  ~Floats() {
    if (allocator_ == nullptr) {
      cudaFree(data_);
    } else {
      dfcclFree(data_, count_ * sizeof(float), allocator_);
    }
  }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  float* data() const { return data_; }
  uint64_t count() const { return count_; }

 private:
  uint64_t count_;
  dfcclRankCtx_t allocator_;
  float* data_ = nullptr;
};

/// Counts wrong elements on the seat's device.
class Wrong {
 public:
  Wrong() {
    DFCCL_CUDA(cudaMalloc(reinterpret_cast<void**>(&count_), sizeof(unsigned)));
    DFCCL_CUDA(cudaMemset(count_, 0, sizeof(unsigned)));
  }
  ~Wrong() { cudaFree(count_); }
  unsigned* at() const { return count_; }
  unsigned read(cudaStream_t stream) const {
    unsigned value = 0;
    DFCCL_CUDA(cudaMemcpyAsync(&value, count_, sizeof value, cudaMemcpyDeviceToHost, stream));
    DFCCL_CUDA(cudaStreamSynchronize(stream));
    return value;
  }

 private:
  unsigned* count_ = nullptr;
};

inline void registerSum(const Seat& seat, uint64_t count, int id) {
  DFCCL_EXPECT(dfcclRegisterAllReduce(count, dfcclFloat32, dfcclSum, id, dfcclAllRanks(), 0, seat.context));
}

}  // namespace dfccl::gpu::bench
