#pragma once
#include <cstdint>

namespace dfccl {

/// Where a run is in a graph that is being captured.
struct CapturedPlace {
  void* node = nullptr;  // null: in none
  uint64_t capture = 0;  // which
};

}  // namespace dfccl
