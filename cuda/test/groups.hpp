#pragma once
// Groups of all ranks.
#include <numeric>
#include <vector>

#include "streams.hpp"

namespace dfccl::gpu::test {

/// A group of all ranks, on each of them.
class Groups {
 public:
  explicit Groups(const GpuRanks& ranks) : groups_(static_cast<size_t>(ranks.size())) {
    for (int r = 0; r < ranks.size(); ++r) {
      std::vector<int> all(groups_.size());
      std::iota(all.begin(), all.end(), 0);
      CHECK_OK(dfcclGroupCreate(all.data(), ranks.size(), 0, &groups_[static_cast<size_t>(r)], ranks[r]));
    }
  }
  ~Groups() {
    for (const dfcclGroup_t group : groups_) CHECK_OK(dfcclGroupDestroy(group));
  }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;
  dfcclGroup_t operator[](int rank) const { return groups_[static_cast<size_t>(rank)]; }

 private:
  std::vector<dfcclGroup_t> groups_;
};

}  // namespace dfccl::gpu::test
