#pragma once
// When a block looks for new collectives, and where they enter its task queue (DFCCL section 4.3, OCCL section 3.2).
#include <cstdint>

#include "base/host_device.hpp"

namespace dfccl::scheduling {

enum class OrderKind : uint8_t {
  fifo,      // a new task goes to the end
  lifo,      // to the front: OCCL's form of priority, where later collectives are more urgent
  priority,  // behind the last task of equal or higher priority
};
inline constexpr int kOrderKindCount = 3;

/// Plain data; packages/scheduler (src/policy-binary.ts) writes these bytes.
struct OrderPolicy {
  OrderKind kind;
  uint8_t reserved[3];
  /// Visits between two looks for new entries while the queue holds tasks. 1: at every visit. 0: only when every task
  /// is stuck, as the paper's FIFO does.
  uint32_t fetchEveryVisits;
  /// With every task stuck, look once so many visits passed without progress.
  uint32_t fetchWhenStuckVisits;
  /// Most entries that one look takes.
  uint32_t fetchBatch;
  /// Most tasks that enter during one lap over the queue; at least 1. Without this budget, new tasks that complete as
  /// fast as they come keep the lap from ending, and a stuck task at the front is never tried again; and urgent tasks,
  /// for which the lap goes back, keep it from ever reaching those behind.
  uint32_t fetchesPerLap;
};
static_assert(sizeof(OrderPolicy) == 20);

/// What a block knows when it asks whether to look.
struct FetchFacts {
  uint32_t queueLength;
  uint32_t visitsSinceFetch;     // since the last look, whether or not it found something
  uint32_t visitsSinceProgress;  // since a slice was last committed
  uint32_t fetchedThisLap;
  bool allStuck;  // every task used up its threshold since the last progress
};

/// Whether to look for new entries in this visit. An empty queue always looks. Whether the queue's memory has room is
/// the caller's to know.
DFCCL_HD constexpr bool shouldFetch(const OrderPolicy& policy, const FetchFacts& facts) {
  if (facts.queueLength == 0) return true;
  if (facts.fetchedThisLap >= policy.fetchesPerLap) return false;
  if (policy.fetchEveryVisits != 0 && facts.visitsSinceFetch >= policy.fetchEveryVisits) return true;
  return facts.allStuck && facts.visitsSinceProgress >= policy.fetchWhenStuckVisits;
}

/// Index at which a new task enters the queue.
/// @param priorityAt `priorityAt(i)` is the priority (larger: more urgent) of the task at index i < length. Under the
///   priority policy the queue is in order by it, because every task entered through this function.
template <class PriorityAt>
DFCCL_HD constexpr uint32_t insertPosition(const OrderPolicy& policy, const PriorityAt& priorityAt, int32_t newPriority,
                                           uint32_t length) {
  if (policy.kind == OrderKind::lifo) return 0;
  if (policy.kind == OrderKind::fifo) return length;
  uint32_t position = length;
  while (position > 0 && priorityAt(position - 1) < newPriority) --position;
  return position;
}

}  // namespace dfccl::scheduling
