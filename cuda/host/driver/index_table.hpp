#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "world/task_table.hpp"

namespace dfccl::gpu {

/// Numbers of a rank's collectives and tasks. One that is given back rests until recycle().
class IndexTable {
 public:
  struct Entry {
    uint32_t index;
    uint32_t firstTask;
    uint32_t blockCount;
    uint32_t registrationNumber;  // how many had this index before
  };

  IndexTable(uint32_t collectives, uint32_t tasks)
      : capacity_(collectives), tasks_(tasks), registrations_(collectives) {}

  /// @return nothing if no index is free, or not so many tasks in a row.
  std::optional<Entry> take(uint32_t blockCount) {
    if (idle_.empty() && next_ == capacity_) return std::nullopt;
    const std::optional<uint32_t> firstTask = tasks_.take(blockCount);
    if (!firstTask) return std::nullopt;
    if (idle_.empty()) {
      idle_.push_back(next_++);
    }
    const uint32_t index = idle_.back();
    idle_.pop_back();
    return Entry{index, *firstTask, blockCount, ++registrations_[index]};
  }
  void retire(const Entry& place) { retired_.push_back(place); }
  bool hasRetired() const { return !retired_.empty(); }
  size_t retiredCount() const { return retired_.size(); }

  /// clean(place) makes each fit for another collective.
  template <class Clean>
  void recycle(Clean&& clean) {
    for (const Entry& place : retired_) {
      clean(place);
      idle_.push_back(place.index);
      tasks_.giveBack(place.firstTask, place.blockCount);
    }
    retired_.clear();
  }

 private:
  const uint32_t capacity_;
  TaskTable tasks_;
  std::vector<uint32_t> registrations_;  // [index]
  uint32_t next_ = 0;
  std::vector<uint32_t> idle_;
  std::vector<Entry> retired_;
};

}  // namespace dfccl::gpu
