#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace dfccl {

/// Numbers of a rank's task contexts: a collective takes as many in a row as its program has blocks.
class TaskTable {
 public:
  explicit TaskTable(uint32_t capacity) : capacity_(capacity) {}

  /// @return the first of `count` free numbers, or nothing.
  std::optional<uint32_t> take(uint32_t count) {
    std::vector<uint32_t>& idle = idle_[count];
    if (!idle.empty()) {
      const uint32_t first = idle.back();
      idle.pop_back();
      return first;
    }
    if (capacity_ - top_ < count) return std::nullopt;
    const uint32_t first = top_;
    top_ += count;
    return first;
  }
  void giveBack(uint32_t first, uint32_t count) { idle_[count].push_back(first); }

 private:
  uint32_t capacity_;
  uint32_t top_ = 0;
  std::map<uint32_t, std::vector<uint32_t>> idle_;
};

}  // namespace dfccl
