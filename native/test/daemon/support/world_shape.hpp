#pragma once
// How a test's world is made, and the mistakes that its host could make, as switches.
#include <cstddef>
#include <cstdint>

#include "daemon/state/rank_memory.hpp"
#include "program/program_loader.hpp"
#include "scheduling/scheduler.hpp"

namespace dfccl::test {

/// Rules of the host that a control takes out.
struct HostMistakes {
  enum class Slot { owned, byCollective, byPosition };
  Slot completionSlot = Slot::owned;    // else: not a free one, but the one that an id or a queue position names
  bool reusesCountersAnew = false;      // connector memory begins at 0 with each owner, its slots as they were
  bool lendsConnectorsEarly = false;    // the first rank that leaves gives its connectors to the next collective
  bool reRegistersIntoAborted = false;  // who registers an id again joins the same registration as before
  bool ignoresDisagreement = false;     // no look at what the other ranks registered
  bool forgetsControl = false;          // an entry doesn't say that something was asked before it
  bool unregistersInUse = false;        // ... although runs are in flight
  bool waitsWithoutLooking = false;     // a stream gets its wait wherever the daemons are
  bool looksAfterItsRankOnly = false;   // ... or where other ranks of its device are
  bool awaitsUncounted = false;         // ... and what it waits for isn't counted as new
  bool startsWhileItKeeps = false;      // ... and starts those that are out while the others must stay
};

struct WorldShape {
  uint32_t ranks = 2;
  RankLimits limits{1, 8, 16, 16, 64};
  scheduling::SchedulePolicy policy{};
  TileSizes tiles{16, 16};
  HostMistakes mistakes{};
  uint64_t firstPosition = 0;  // of connectors, for tests of the wrap
  size_t arenaBytes = size_t{8} << 20;
  bool sharesDevice = false;  // all ranks are one process's, on one device
};

}  // namespace dfccl::test
