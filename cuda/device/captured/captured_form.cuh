#pragma once
#include <cstdint>

namespace dfccl::gpu {

/// How a run's kernel goes about it. Each form is a kernel of its own with nothing in it that another needs: a small
/// run takes as long as its instructions take to arrive.
struct CapturedForm {
  // 1, 2, 4, 8: an all-reduce of so many whole lines that each worker of a lane holds as many of every member's.
  static constexpr int32_t any = 0;
  static constexpr int32_t large = -1;  // CapturedLayout::isLarge
  // Of a tile a lane, in which a worker has no more than kShortLines:
  static constexpr int32_t message = -2;
  static constexpr int32_t copies = -3;
  static constexpr int32_t reduction = -4;  // of no more than kHeldMembers

  static constexpr uint32_t kShortLines = 4;
};

}  // namespace dfccl::gpu
