#pragma once
// Which of a rank's graphs a captured run is part of. Ranks meet in the n-th graph that each of them has captured with
// a run of the same collective, and within it in the order of the capture, however the graphs are launched.
#include <algorithm>
#include <cstdint>
#include <vector>

namespace dfccl {

/// Of one collective, or one signature, on one rank. One thread at a time.
class GraphNumbers {
 public:
  /// @param capture not another one's, ever.
  /// @param isUnused (number) whether that graph is gone without a launch: who captures again, because the first
  /// capture failed, has the same number then, as others have captured once.
  /// @return from 1.
  template <class IsUnused>
  uint32_t of(uint64_t capture, const IsUnused& isUnused) {
    if (isOneForAll()) return 1;
    const auto known = std::ranges::find(given_, capture, &Given::capture);
    if (known != given_.end()) return known->number;
    const auto unused = std::ranges::find_if(given_, [&](const Given& given) { return isUnused(given.number); });
    if (unused != given_.end()) {
      unused->capture = capture;
      return unused->number;
    }
    if (given_.size() == kMostKnown) given_.erase(given_.begin());
    given_.push_back({++count_, capture});
    return count_;
  }
  /// The capture's run could not be registered: the next graph gets its number. @pre nothing is registered under it
  void takeBack(uint64_t capture) {
    if (given_.empty() || given_.back().capture != capture || given_.back().number != count_) return;
    given_.pop_back();
    --count_;
  }

 private:
  struct Given {
    uint32_t number;
    uint64_t capture;
  };
  static constexpr size_t kMostKnown = 16;

  /// DFCCL_MATCH_GRAPHS=launches: runs meet in the order in which their graphs are launched, whichever these are.
  static bool isOneForAll();

  std::vector<Given> given_;  // the newest last
  uint32_t count_ = 0;
};

}  // namespace dfccl
