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
  struct Number {
    uint32_t graph;  // from 1
    bool isNew;
  };
  /// Whatever becomes of the graph: when it goes is another moment on each rank. @param capture not another one's,
  /// ever.
  Number of(uint64_t capture) {
    if (isOneForAll()) return {1, false};
    const auto known = std::ranges::find(given_, capture, &Given::capture);
    if (known != given_.end()) return {known->graph, false};
    if (given_.size() == kMostKnown) given_.erase(given_.begin());
    given_.push_back({++count_, capture});
    return {count_, true};
  }
  /// Of runs that are kernels in streams, and in no graph. Where graphs share a registration, these share it, too: a
  /// run that one rank captures and another puts into a stream is the same then.
  static uint32_t ofStreams() { return isOneForAll() ? 1 : kStreams; }
  static constexpr uint32_t kStreams = 0xffffffff;
  /// The capture's first run was refused: the next graph gets its number. @pre isNew; no other capture has come since
  void takeBack() {
    given_.pop_back();
    --count_;
  }

 private:
  struct Given {
    uint32_t graph;
    uint64_t capture;
  };
  static constexpr size_t kMostKnown = 64;  // captures under way at once

  /// DFCCL_MATCH_GRAPHS=launches: runs meet in the order in which their graphs are launched, whichever these are.
  static bool isOneForAll();

  std::vector<Given> given_;  // the newest last
  uint32_t count_ = 0;
};

}  // namespace dfccl
