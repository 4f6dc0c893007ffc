#pragma once
#include <cstdint>

namespace dfccl::gpu {

/// How a run's kernel goes about it. Each form is a kernel of its own with nothing in it that another needs: a small
/// run takes as long as its instructions take to arrive.
struct CapturedForm {
  static constexpr int32_t any = 0;
  static constexpr int32_t large = -1;  // CapturedLayout::isLarge
  // Of a tile a lane. To each is added how many lines a worker holds at most, of each member's part:
  static constexpr int32_t wholeSum = 16;  // an all-reduce of whole lines: 1, 2, 4 or 8. No more than kHeldMembers
  static constexpr int32_t message = 32;   // 1, 4 or 8, here and below
  static constexpr int32_t copies = 48;
  static constexpr int32_t reduction = 64;  // no more than kHeldMembers
  // The same of more, up to kMostHeldMembers, with fewer lines, as registers are:
  static constexpr int32_t wideSum = 80;        // 1, 2 or 4
  static constexpr int32_t wideReduction = 96;  // 1 or 4

  static constexpr int32_t kindOf(int32_t form) { return form < 0 ? form : form & ~15; }
  static constexpr int linesOf(int32_t form) { return form < 0 ? 0 : form & 15; }
};

}  // namespace dfccl::gpu
