#pragma once
#include "daemon/state/rank_memory.hpp"

namespace dfccl::test {

/// What all ranks of a process on a device have in common.
struct DeviceWaits {
  DeviceAwaited host{};
  AwaitedRuns ranks[DeviceAwaited::kMostRanks]{};
};

/// Memory for streams that wait for runs, given to a rank that has none of its own.
class WaitingTables {
 public:
  WaitingTables(RankMemory& memory, DeviceWaits& device, uint32_t place) {
    device.host.isRank[place].store(1, order::relaxed);
    memory.waiting = {
        {device.ranks[place].completed, AwaitedRuns::kMost}, &device.host, device.ranks, &mustLeave_, &vainLook_};
  }

 private:
  Atomic<uint32_t> mustLeave_{};
  VainLook vainLook_;
};

}  // namespace dfccl::test
