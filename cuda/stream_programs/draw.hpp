#pragma once
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace dfccl::gpu::programs {

/// Random numbers that are the same everywhere: the standard's distributions are not.
class Draw {
 public:
  Draw(uint64_t seed, uint64_t stream) : engine_(seed * 1000003 + stream * 7919) { engine_.discard(8); }

  size_t below(size_t bound) { return static_cast<size_t>(engine_() % bound); }
  bool hits(size_t percent) { return below(100) < percent; }
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace dfccl::gpu::programs
