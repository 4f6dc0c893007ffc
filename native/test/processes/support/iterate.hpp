#pragma once
#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include "processes/support/joined_rank.hpp"
#include "processes/support/shared_count.hpp"

namespace dfccl::test {

/// All of them once, in a random order. @param completed counts those that did. @return whether all did; then every
/// result was right.
inline bool iterate(JoinedRank& own, std::vector<JoinedRank::AllReduce>& collectives, std::mt19937& random,
                    bool& isRight, SharedCount* completed = nullptr) {
  std::shuffle(collectives.begin(), collectives.end(), random);
  std::vector<uint32_t> slots;
  for (auto& c : collectives) slots.push_back(own.submit(c));
  bool isComplete = true;
  for (size_t i = 0; i < slots.size(); ++i) {
    const dfcclResult_t status = own.wait(slots[i]);
    isComplete &= status == dfcclSuccess;
    if (status != dfcclSuccess) continue;
    if (const uint64_t wrong = JoinedRank::wrong(collectives[i]); wrong != 0) {
      isRight = false;
      std::fprintf(stderr, "rank %u: %llu of %llu elements of collective %u are wrong in run %llu\n", own.number(),
                   static_cast<unsigned long long>(wrong), static_cast<unsigned long long>(collectives[i].count),
                   collectives[i].id, static_cast<unsigned long long>(collectives[i].runs));
    }
    if (completed != nullptr) completed->add(1);
  }
  return isComplete;
}

}  // namespace dfccl::test
