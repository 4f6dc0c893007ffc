#include "strategy.hpp"

#include <unistd.h>

namespace dfccl::reduce_copy {
namespace {

// Writing around a cache that could have held the data costs 2.7 times; that was measured up to 1.5 - 2 times its size.
constexpr size_t streamingThreshold(size_t cacheBytes) { return cacheBytes + cacheBytes * 3 / 4; }

// Below this the operands stay in the second-level cache, and a detour through a buffer only adds work.
constexpr size_t kStagedFromBytes = 512 << 10;

}  // namespace

size_t lastLevelCacheBytes() {
  static const size_t bytes = [] {
    long found = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    found = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return found > 0 ? static_cast<size_t>(found) : size_t{32} << 20;
  }();
  return bytes;
}

Strategy chooseStrategy(const StrategyFacts& facts) {
  if (facts.canStream && facts.workingSetBytes > streamingThreshold(lastLevelCacheBytes())) return Strategy::streamed;
  const size_t callBytes = facts.operandBytes * static_cast<size_t>(facts.sourceCount + facts.destinationCount);
  const size_t bytes = facts.workingSetBytes != 0 ? facts.workingSetBytes : callBytes;
  if (facts.destinationCount > 2 && bytes >= kStagedFromBytes) return Strategy::staged;
  return Strategy::direct;
}

}  // namespace dfccl::reduce_copy
