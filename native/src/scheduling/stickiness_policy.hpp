#pragma once
// How long a task may fail before it is preempted (DFCCL section 4.3, OCCL section 3.2). A threshold counts visits:
// polls of the task's wait condition that found nothing, in a row.
#include <cstdint>

#include "base/host_device.hpp"
#include "scheduling/saturating.hpp"

namespace dfccl::scheduling {

enum class StickinessKind : uint8_t {
  fixed,       // the same threshold for every task, always
  decreasing,  // the largest at the front of the queue, less behind
  adaptive,    // decreasing, and raised at every success: ranks come to wait for the same collective
};
inline constexpr int kStickinessKindCount = 3;

/// Plain data; packages/scheduler (src/policy-binary.ts) writes these bytes.
struct StickinessPolicy {
  StickinessKind kind;
  uint8_t reserved[3];
  uint32_t initialThreshold;  // of the task at the front of the queue
  uint32_t minimumThreshold;  // >= 1
  /// Below the visits after which the daemon quits: a task that could outwait the daemon would never be preempted.
  uint32_t maximumThreshold;
  uint32_t perPositionDecrement;
  uint32_t raiseFactor256ths;  // 256: unchanged; 512: doubled
};
static_assert(sizeof(StickinessPolicy) == 24);

namespace detail {
DFCCL_HD constexpr uint32_t clampThreshold(const StickinessPolicy& policy, uint32_t threshold) {
  const uint32_t capped = threshold < policy.maximumThreshold ? threshold : policy.maximumThreshold;
  const uint32_t raised = capped > policy.minimumThreshold ? capped : policy.minimumThreshold;
  return raised > 1 ? raised : 1;
}
}  // namespace detail

/// Threshold with which the task at `position` of the queue begins its turn.
DFCCL_HD constexpr uint32_t initialThreshold(const StickinessPolicy& policy, uint32_t position) {
  if (policy.kind == StickinessKind::fixed) return detail::clampThreshold(policy, policy.initialThreshold);
  const uint32_t decrement = saturatingMultiply(position, policy.perPositionDecrement);
  return detail::clampThreshold(policy, saturatingSubtract(policy.initialThreshold, decrement));
}

/// Threshold after a committed slice.
DFCCL_HD constexpr uint32_t onSuccess(const StickinessPolicy& policy, uint32_t threshold) {
  if (policy.kind != StickinessKind::adaptive) return threshold;
  return detail::clampThreshold(policy, saturatingScale(threshold, policy.raiseFactor256ths));
}

/// Threshold of a preempted task's next turn, if that begins at `position`: what it earned ends with its turn
/// (Algorithm 1 of DFCCL sets the initial thresholds anew in every round).
DFCCL_HD constexpr uint32_t onPreempt(const StickinessPolicy& policy, uint32_t position) {
  return initialThreshold(policy, position);
}

}  // namespace dfccl::scheduling
