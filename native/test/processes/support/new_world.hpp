#pragma once
// For tests of one thing in several settings: how the ranks of a new world join it.
#include <functional>

#include "processes/support/joined_rank.hpp"
#include "processes/support/processes.hpp"

namespace dfccl::test {

/// In the process of a rank.
using Join = std::function<JoinedRank(uint32_t rank)>;
/// In the test, before it forks.
using NewWorld = std::function<Join(uint32_t ranks)>;

inline Join onOneMachine(uint32_t ranks) {
  return [job = newJob(), ranks](uint32_t rank) { return JoinedRank(job, rank, ranks); };
}

/// A list of ranks as a number, which is never 0.
inline uint64_t maskOf(const std::vector<uint32_t>& ranks) {
  uint64_t mask = 0;
  for (const uint32_t rank : ranks) mask |= uint64_t{1} << rank;
  return mask;
}

}  // namespace dfccl::test
