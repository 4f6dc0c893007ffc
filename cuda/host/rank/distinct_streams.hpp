#pragma once
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl::gpu {

/// How many different streams were added, as far as it remembers them. Any thread.
class DistinctStreams {
 public:
  static constexpr uint32_t kMost = 8;

  void add(cudaStream_t stream) {
    for (Atomic<uint64_t>& place : places_) {
      // The default stream is 0 to CUDA.
      const uint64_t named = reinterpret_cast<uint64_t>(stream) + 1;
      uint64_t found = place.load(order::relaxed);
      if (found == 0 && place.compareExchange(found, named, order::relaxed, order::relaxed)) return;
      if (found == named) return;
    }
  }
  uint32_t count() const {
    uint32_t count = 0;
    while (count < kMost && places_[count].load(order::relaxed) != 0) ++count;
    return count;
  }

 private:
  std::array<Atomic<uint64_t>, kMost> places_{};
};

}  // namespace dfccl::gpu
