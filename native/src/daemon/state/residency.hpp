#pragma once
// Whether the daemon is there, and the race between a submission and a daemon that leaves. The host stores an entry and
// then looks whether the daemon is there; of a daemon that left, somebody then looks at the queue. Both store first and
// look afterwards, in one order over all threads, so at least one of them sees the other.
#include <cstdint>

#include "base/atomics.hpp"
#include "queues/submission_ring.hpp"

namespace dfccl {

struct ResidencyOrders {
  static constexpr Order publishTail = order::seqCst;  // S1, the submitter's store ...
  static constexpr Order seeResident = order::seqCst;  // L1, ... and its look
  static constexpr Order leave = order::seqCst;        // S2, the last block's store ...
  static constexpr Order seeTail = order::seqCst;      // L2, ... and the look of whoever sees the daemon out
  static constexpr Order seeHead = order::acquire;     // L3: whoever sees an entry taken sees the stay that took it
};

template <class Orders>
struct BasicResidency {
  alignas(64) Atomic<uint32_t> resident;
  Atomic<uint32_t> exited;
  Atomic<uint64_t> launches;  // number of the stay, from 1
  alignas(64) Atomic<uint32_t> blocksLeft;

  DFCCL_HD bool isResident() const { return resident.load(Orders::seeResident) != 0; }  // L1
  DFCCL_HD void enter() { resident.store(1, order::seqCst); }
  DFCCL_HD void leave() { resident.store(0, Orders::leave); }  // S2
  /// How many stays have begun. For whoever starts daemons and may fall asleep: asked before he sees the daemon out.
  uint64_t stays() const { return launches.load(order::seqCst); }
  /// The last look before he does, after hasUnseen(): somebody else has started one meanwhile, and what that takes in
  /// and leaves behind rings no bell.
  bool hasStayedSince(uint64_t stays) const { return launches.load(order::seqCst) != stays; }
  /// Entries of the host's that no leader has taken. To be asked after the daemon was seen out.
  static bool hasUnseen(const SubmissionRing& ring) {
    return ring.header->tail.load(Orders::seeTail) != ring.header->head.load(Orders::seeHead);  // L2, L3
  }
};
using Residency = BasicResidency<ResidencyOrders>;

template <class Orders>
struct BasicEngineSubmissionOrders : SubmissionOrders {
  static constexpr Order publishTail = Orders::publishTail;  // S1
};
using EngineSubmissionOrders = BasicEngineSubmissionOrders<ResidencyOrders>;

}  // namespace dfccl
