#pragma once
// A backend whose ranks may be in several processes, as many in each.
#include "perf/process_group.hpp"

namespace dfccl::bench {

class BackendOfProcesses : public Backend {
 public:
  /// @param group null: there is one. @param local ranks of each
  BackendOfProcesses(ProcessGroup* group, uint32_t local) : group_(group), local_(local) {}

  uint32_t ranks() const override { return local_ * (group_ == nullptr ? 1 : group_->size()); }
  uint32_t firstRank() const override { return local_ * (group_ == nullptr ? 0 : group_->index()); }
  uint32_t localRanks() const override { return local_; }
  void barrier() override {
    if (group_ != nullptr) group_->barrier();
  }
  double combine(double mine, Average average) override {
    return group_ == nullptr ? mine : group_->combine(mine, average);
  }
  uint64_t sum(uint64_t mine) override { return group_ == nullptr ? mine : group_->sum(mine); }
  uint64_t ofFirst(uint64_t mine) override { return group_ == nullptr ? mine : group_->ofFirst(mine); }

 private:
  ProcessGroup* const group_;
  const uint32_t local_;
};

}  // namespace dfccl::bench
