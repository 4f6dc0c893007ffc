#pragma once
#include <cstdint>

namespace dfccl::gpu {

/// Since when a question (barrier_probe.hpp) has gone without an answer while no run was over. While runs end, what
/// streams wait for is still to come to its end, and a barrier with it.
class Doubt {
 public:
  /// @param now in ticks. @param runsOver so far.
  Doubt(uint64_t now, uint64_t runsOver) : since_(now), runsOver_(runsOver) {}

  /// Whether it is longer than `most` ticks by now.
  bool isLongerThan(uint64_t most, uint64_t now, uint64_t runsOver) {
    if (runsOver != runsOver_) *this = {now, runsOver};
    return now - since_ > most;
  }

 private:
  uint64_t since_;
  uint64_t runsOver_;
};

}  // namespace dfccl::gpu
