#pragma once
#include <algorithm>

#include "processes/support/joined_rank.hpp"

namespace dfccl::test {

/// Moves data between this rank and every other one, which do the same. A connection is made when it is first used, and
/// UCX 1.13 with its assertions, as Debian has it, aborts a process whose peer dies while it is being made.
inline void connectAll(JoinedRank& own, uint32_t ranks) {
  constexpr uint32_t kFirstId = 1'000'000;
  std::vector<uint32_t> slots;
  for (uint32_t r = 0; r < ranks; ++r) {
    if (r == own.number()) continue;
    const uint32_t low = std::min(r, own.number()), high = std::max(r, own.number());
    JoinedRank::AllReduce pair = own.add(kFirstId + low * ranks + high, 1, {low, high});
    slots.push_back(own.submit(pair));
  }
  for (const uint32_t slot : slots) own.wait(slot);
}

}  // namespace dfccl::test
