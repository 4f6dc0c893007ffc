#pragma once
// What every completion queue offers, so that the engine is compiled against any of them.
#include <concepts>
#include <cstdint>
#include <optional>

#include "base/atomics.hpp"

namespace dfccl {

inline constexpr uint32_t kNoCompletionSlot = 0xffffffff;

/// What a variant needs of memory, and what it gives.
struct Guarantees {
  bool needsHostAtomics;  // read-modify-write on host memory: a GPU may lack it (cudaDevAttrHostNativeAtomicSupported)
  int operationsPerPost;  // accesses to host memory of a post that meets no other and finds room
  bool ordered;           // completions are polled in the order of posting; one that is late holds up those behind it
};

/// A producer's post(): false means not now (full, or another producer is at work), try again at the next step. A CQE
/// is never 0. `slot` is the one that the SQE named; variants without slots ignore it. A poller's poll(): one
/// completion, or nothing. Both return at once.
template <class Q>
concept CompletionQueue = requires(Q queue, typename Q::Producer producer, typename Q::Poller poller) {
  { Q::kGuarantees } -> std::convertible_to<Guarantees>;
  { producer.post(uint32_t{}, uint64_t{}) } -> std::same_as<bool>;
  { poller.poll() } -> std::same_as<std::optional<uint64_t>>;
  {typename Q::Producer(queue)};
  {typename Q::Poller(queue)};
};

}  // namespace dfccl
