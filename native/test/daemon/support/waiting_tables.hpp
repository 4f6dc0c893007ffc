#pragma once
#include <vector>

#include "dfccl/daemon/rank_memory.hpp"

namespace dfccl::test {

/// Memory for streams that wait for runs, given to a rank that has none of its own.
class WaitingTables {
 public:
  explicit WaitingTables(RankMemory& memory)
      : completed_(memory.limits.collectives), awaited_(memory.limits.collectives), listed_(memory.limits.collectives) {
    memory.waiting = {arrayOf(completed_), arrayOf(awaited_), arrayOf(listed_), &listedCount_, &mustLeave_};
  }

 private:
  std::vector<Atomic<uint32_t, Scope::device>> completed_;
  std::vector<AwaitedCount> awaited_;
  std::vector<uint32_t> listed_;
  uint32_t listedCount_ = 0;
  Atomic<uint32_t> mustLeave_{};
};

}  // namespace dfccl::test
