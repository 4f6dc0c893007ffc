#pragma once
// Worlds with few slots, whose ranks sum one number of each run.
#include <atomic>
#include <numeric>
#include <vector>

#include "cpu/cpu_world.hpp"
#include "world/defaults.hpp"

namespace dfccl::test {

inline constexpr uint32_t kSlots = 16;

inline WorldOptions fewSlots(uint32_t ranks, uint32_t ids, uint32_t workers, uint32_t grid = 1) {
  WorldOptions o;
  o.ranks = ranks;
  o.workers = workers;
  o.limits.grid = grid;
  o.limits.submissionSlots = kSlots;
  o.limits.completionSlots = kSlots;
  o.limits.collectives = ids;
  o.limits.tasks = 2 * ids;
  o.policy = defaultPolicy(BackendKind::cpu);
  o.arenaBytes = size_t{64} << 20;
  return o;
}

inline void countCompleted(void* count, dfcclResult_t status) {
  if (status == dfcclSuccess) static_cast<std::atomic<uint64_t>*>(count)->fetch_add(1);
}

/// Ranks that sum one number of each run: what a rank submits as its k-th run of an id is a function of the three.
class Sums {
 public:
  Sums(const WorldOptions& o, uint32_t ids, uint64_t runsOfId) : world(o), runsOfId_(runsOfId), ranks_(o.ranks) {
    for (uint32_t r = 0; r < ranks_; ++r) {
      index_.emplace_back();
      in_.emplace_back(ids * runsOfId);
      out_.emplace_back(ids * runsOfId);
      submitted_.emplace_back(ids);
      for (uint32_t id = 0; id < ids; ++id) {
        CollectiveSpec spec;
        spec.id = id;
        spec.count = 1;
        spec.ranks.resize(ranks_);
        std::iota(spec.ranks.begin(), spec.ranks.end(), 0u);
        index_[r].push_back(world.registerCollective(r, spec));
        for (uint64_t k = 0; k < runsOfId; ++k) in_[r][id * runsOfId + k] = value(r, id, k);
      }
    }
  }

  /// @return false: it was refused.
  bool submit(uint32_t r, uint32_t id) {
    const uint64_t at = id * runsOfId_ + submitted_[r][id];
    if (!RankQueues::isTaken(
            world.rank(r).submit(index_[r][id], &in_[r][at], &out_[r][at], countCompleted, &completed)))
      return false;
    world.ring();
    ++submitted_[r][id];
    return true;
  }
  uint64_t wrong() const {
    uint64_t count = 0;
    for (uint32_t r = 0; r < ranks_; ++r) {
      for (size_t at = 0; at < out_[r].size(); ++at) {
        float sum = 0;
        for (uint32_t m = 0; m < ranks_; ++m) sum += value(m, static_cast<uint32_t>(at / runsOfId_), at % runsOfId_);
        count += out_[r][at] != sum;
      }
    }
    return count;
  }
  bool isOver() {
    for (uint32_t r = 0; r < ranks_; ++r) {
      if (world.rank(r).inFlight() != 0) return false;
    }
    return true;
  }
  void finish() {
    while (!isOver()) {
      for (uint32_t r = 0; r < ranks_; ++r) world.rank(r).deliver();
      world.drive();
    }
  }

  CpuWorld world;
  std::atomic<uint64_t> completed{0};
  uint32_t indexOf(uint32_t r, uint32_t id) const { return index_[r][id]; }

 private:
  static float value(uint32_t r, uint32_t id, uint64_t k) {
    return static_cast<float>((r + 1) * (1 + (id + k) % 1000));
  }

  const uint64_t runsOfId_;
  const uint32_t ranks_;
  std::vector<std::vector<uint32_t>> index_;
  std::vector<std::vector<float>> in_, out_;
  std::vector<std::vector<uint64_t>> submitted_;
};

}  // namespace dfccl::test
