#pragma once
// How the result reaches its destinations.
#include <cstddef>

#include "base/reduce_copy.hpp"

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
  Stores stores;
  bool canStream;
};

Strategy chooseStrategy(const StrategyFacts& facts);

}  // namespace dfccl::reduce_copy
