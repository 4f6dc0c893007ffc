#pragma once
// What the parts of an exploration share: the plan, the random numbers, the application's memory, the ranks, the
// report.
#include "plan.hpp"
#include "random.hpp"
#include "user_memory.hpp"
#include "verdict.hpp"

namespace dfccl::test {

template <class WorldType>
struct Exploration {
  using World = WorldType;

  Exploration(const Plan& p, uint64_t seed) : plan(p), random(seed), memory(kUserBytes), world(p.shape) {
    Surroundings::now = 1;
    Surroundings::stepBudgetBytes = p.stepBudgetBytes;
    Surroundings::togetherBytes = p.togetherBytes;
    Surroundings::violation.clear();
    Surroundings::isLeaving.clear();
  }
  Exploration(const Exploration&) = delete;
  Exploration& operator=(const Exploration&) = delete;

  static constexpr size_t kUserBytes = size_t{1} << 20;

  const Plan& plan;
  Random random;
  UserMemory memory;
  MemoryWatch watch{memory};
  World world;
  Report report;
};

inline uint32_t memberOf(const CollectiveSpec& spec, uint32_t rank) {
  uint32_t member = 0;
  while (spec.ranks[member] != rank) ++member;
  return member;
}

}  // namespace dfccl::test
