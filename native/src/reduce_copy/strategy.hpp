#pragma once
// How the result reaches its destinations.
#include <cstddef>

namespace dfccl::reduce_copy {

enum class Strategy {
  direct,    // from registers to every destination
  staged,    // into a buffer that stays in the first-level cache, and from there to every destination
  streamed,  // staged, with stores that go around the cache
};

/// What the choice depends on. Bytes are those of one operand.
struct StrategyFacts {
  int sourceCount;
  int destinationCount;
  size_t operandBytes;
  size_t workingSetBytes;  // of the whole collective, 0 = unknown
  bool canStream;
};

Strategy chooseStrategy(const StrategyFacts& facts);

/// Size of this machine's last-level cache; 32 MiB where the system doesn't say.
size_t lastLevelCacheBytes();

}  // namespace dfccl::reduce_copy
