#include "os/tick_clock.hpp"

namespace dfccl {

double ticksPerMicrosecond() {
  static const double ticks = [] {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const uint64_t first = readTicks();
    while (Clock::now() - begin < std::chrono::milliseconds(2)) {
    }
    const uint64_t last = readTicks();
    return static_cast<double>(last - first) / std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  }();
  return ticks;
}

}  // namespace dfccl
