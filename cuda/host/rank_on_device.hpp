#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "dfccl/atomics.hpp"

namespace dfccl::gpu {

/// As long as it lives, a rank of this process is on the device.
class RankOnDevice {
 public:
  explicit RankOnDevice(int device) : count_(counts()[static_cast<size_t>(device) % kDevices]) {
    count_.fetchAdd(1, order::seqCst);
  }
  ~RankOnDevice() { count_.fetchSub(1, order::seqCst); }
  RankOnDevice(const RankOnDevice&) = delete;
  RankOnDevice& operator=(const RankOnDevice&) = delete;

  /// Whether it is the only one.
  bool isAlone() const { return count_.load(order::relaxed) == 1; }

 private:
  static constexpr size_t kDevices = 256;
  using Counts = std::array<Atomic<uint32_t>, kDevices>;

  static Counts& counts() {
    static Counts all;
    return all;
  }

  Atomic<uint32_t>& count_;
};

}  // namespace dfccl::gpu
