#pragma once
// Runs that were submitted and that the daemon hasn't been given yet: as many as there is memory for. Those of one id
// begin in the order of their submission, so only the first that waits of each id may be the next.
//
//   by age    oldest -> run -> run -> run -> newest       every run, whatever its id
//   by id     [id]: first -> run -> last                  a run is taken out where its id's queue begins
//
// Nothing here looks at all runs, or at all ids: adding and taking cost the same however many wait.
#include <cstdint>
#include <memory>
#include <vector>

#include "base/sqe.hpp"
#include "dfccl/status.h"
#include "world/zeroed_table.hpp"

namespace dfccl {

/// Called on completion with the user's argument; `status` is dfcclSuccess, dfcclAborted or dfcclCountMismatch.
using RunCallback = void (*)(void* argument, dfcclResult_t status);

/// A run as its submitter gave it.
struct SubmittedRun {
  Sqe sqe;  // but for its completion slot, and for what the host asks of the daemon meanwhile
  RunCallback callback;
  void* argument;
};

class Backlog {
 public:
  /// @param ids that runs may have: [0, ids)
  explicit Backlog(uint32_t ids) : queues_(ids) {}

  bool isEmpty() const { return size_ == 0; }
  uint64_t size() const { return size_; }
  /// Runs of an id that wait.
  uint64_t sizeOf(uint32_t id) const { return queues_[id].size; }

  /// Behind all others. @throws std::bad_alloc, with nothing changed
  void add(const SubmittedRun& run);
  /// The run that has waited longest. @pre !isEmpty()
  const SubmittedRun& oldest() const { return node(oldest_).run; }
  /// The first of an id. @pre sizeOf(id) != 0
  const SubmittedRun& first(uint32_t id) const { return node(queues_[id].first - 1).run; }
  /// Takes the first of an id out.
  void pop(uint32_t id);

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr uint32_t kChunk = 512;

  struct Node {
    SubmittedRun run;
    uint32_t older, newer;
    uint32_t nextOfId;
  };
  /// Node numbers plus one, so that zeros are an empty queue.
  struct Queue {
    uint32_t first, last;
    uint64_t size;
  };

  Node& node(uint32_t number) { return chunks_[number / kChunk][number % kChunk]; }
  const Node& node(uint32_t number) const { return chunks_[number / kChunk][number % kChunk]; }
  uint32_t takeNode();

  std::vector<std::unique_ptr<Node[]>> chunks_;  // they stay where they are; all but one are given back at the end
  ZeroedTable<Queue> queues_;                    // [id]
  uint64_t size_ = 0;
  uint32_t oldest_ = kNone;
  uint32_t newest_ = kNone;
  uint32_t free_ = kNone;  // nodes that were used before, by nextOfId
  uint32_t unused_ = 0;    // nodes from here on never were
};

/// Ids of which nothing may be under way any more, each of them once.
class VacatedIds {
 public:
  explicit VacatedIds(uint32_t ids) : isListed_(ids), list_(ids) {}

  void add(uint32_t id) {
    if (isListed_[id] != 0) return;
    isListed_[id] = 1;
    list_[count_++] = id;
    seenCount_.store(count_, order::relaxed);
  }
  bool isEmpty() const { return count_ == 0; }
  /// The same, for threads without the lock.
  bool isSeenFilled() const { return seenCount_.load(order::relaxed) != 0; }
  uint32_t last() const { return list_[count_ - 1]; }
  void dropLast() {
    isListed_[list_[--count_]] = 0;
    seenCount_.store(count_, order::relaxed);
  }

 private:
  ZeroedTable<uint8_t> isListed_;  // [id]
  ZeroedTable<uint32_t> list_;
  uint32_t count_ = 0;
  Atomic<uint32_t> seenCount_;
};

}  // namespace dfccl
