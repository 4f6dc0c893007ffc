#include "strategy.hpp"

#include <algorithm>

#include "cache_size.hpp"

namespace dfccl::reduce_copy {
namespace {

// Writing around a cache that could have held the data costs 2.7 times; that was measured up to 1.5 - 2 times its size.
constexpr size_t streamingThreshold(size_t cacheBytes) { return cacheBytes + cacheBytes * 3 / 4; }

// Lines at the same offset of their pages share the few ways of a first-level cache: with 8 sources and 8 destinations,
// all page-aligned, writing them in turn is 1.2 - 1.7 times slower than one after the other from a buffer (float32 sum,
// 8 - 256 KiB each). With 6 and 6 both are equal, below the buffer only adds work, and beyond the caches it costs 1.4
// times.
constexpr int kStagedFromOperands = 16;
constexpr size_t stagedThreshold(size_t cacheBytes) { return cacheBytes / 4; }

// Too little for any of this to pay.
constexpr size_t kAlwaysDirectBytes = 2 << 10;

}  // namespace

Strategy chooseStrategy(const StrategyFacts& facts) {
  const int operandCount = facts.sourceCount + facts.destinationCount;
  const size_t callBytes = facts.operandBytes * static_cast<size_t>(operandCount);
  if (callBytes <= kAlwaysDirectBytes) return Strategy::direct;
  const size_t cacheBytes = expectedCacheBytes();
  const bool isTooMuch = facts.workingSetBytes > streamingThreshold(cacheBytes);
  const bool isAround = facts.stores == Stores::byWorkingSet ? isTooMuch : facts.stores != Stores::cached;
  if (facts.canStream && isAround) return Strategy::streamed;
  const bool isCached = std::max(facts.workingSetBytes, callBytes) <= stagedThreshold(cacheBytes);
  const bool isWide = operandCount >= kStagedFromOperands && facts.destinationCount > 1;
  return isWide && isCached ? Strategy::staged : Strategy::direct;
}

}  // namespace dfccl::reduce_copy
