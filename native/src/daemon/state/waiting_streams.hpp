#pragma once
// Streams of the caller's that wait for runs. While one of them waits, no daemon of its process leaves that device:
// what keeps the driver to itself until the device is idle (cudaFree, the loading of a module) waits for that stream
// too, nothing can be launched meanwhile, and a daemon that had left could not come back for what the stream waits for
// (decision 23).
//
//   host     counts that it is about to let a stream wait, and then looks whether the daemon says that it leaves
//   daemon   says that it leaves, and then looks at that count, and whether anything is awaited
//
// So one of them sees the other: the daemon stays, or the host knows that it has to start one before the stream may
// have its wait. Such a call of the host's may be kept waiting for the driver by another thread that waits until the
// device is idle, so a daemon stays for it only so long; whoever makes it takes the wait back where none is there then.
#include <cstdint>

#include "base/array.hpp"
#include "base/atomics.hpp"
#include "daemon/state/pending_runs.hpp"

namespace dfccl {

/// Of one rank: counts of runs that are over, and those that streams wait for.
struct AwaitedRuns {
  static constexpr uint32_t kMost = 1024;
  Atomic<uint32_t, Scope::device> completed[kMost];  // [collective's index]: since the rank was made
};

/// The host's side of it, for all ranks of a process on a device.
struct DeviceAwaited {
  static constexpr uint32_t kMostRanks = 16;
  /// A daemon stays for what one table says; its successor, launched behind it, for what the next one does.
  static constexpr uint32_t kTables = 8;
  using Table = Atomic<uint32_t>[kMostRanks][AwaitedRuns::kMost];
  Atomic<uint64_t> intents;             // calls that are about to let a stream wait
  Atomic<uint64_t> raised;              // counts up with whatever is awaited anew
  Atomic<uint32_t> isRank[kMostRanks];  // the place is a rank's
  Table awaited[kTables];               // [place][index]: a stream goes on when so many are over

  /// One thread at a time. What is awaited first: a daemon that knows of the count knows of that too.
  void raise(uint32_t table, uint32_t place, uint32_t index, uint32_t target) {
    Atomic<uint32_t>& before = awaited[table][place][index];
    if (!isBefore(before.load(order::relaxed), target)) return;
    before.store(target, order::seqCst);
    raised.fetchAdd(1, order::seqCst);
  }
  /// One thread at a time, and no raise() meanwhile.
  void copy(uint32_t from, uint32_t to) {
    for (uint32_t place = 0; place < kMostRanks; ++place) {
      for (uint32_t index = 0; index < AwaitedRuns::kMost; ++index) {
        awaited[to][place][index].store(awaited[from][place][index].load(order::relaxed), order::relaxed);
      }
    }
    raised.fetchAdd(1, order::seqCst);
  }
  /// A new rank gets the place: no stream waits for it.
  void clear(uint32_t place) {
    for (Table& table : awaited) {
      for (Atomic<uint32_t>& target : table[place]) target.store(0, order::relaxed);
    }
  }
};

/// A daemon's last look at all that is awaited, if it was in vain: what was over then stays over, so until something is
/// awaited anew, nobody has to look again. All counts together are 64 KB behind the bus.
struct VainLook {
  static constexpr uint64_t kNone = ~uint64_t{0};

  uint64_t raised = kNone;
  uint32_t table = 0;

  DFCCL_HD bool holds(uint64_t now, uint32_t ofTable) const { return raised == now && table == ofTable; }
};

/// For how long a daemon stays because of nothing but calls that are about to let a stream wait.
struct IntentPatience {
  static constexpr uint64_t kMostNanos = 20'000'000;

  uint64_t since = 0;  // 0: there was none at the last look

  DFCCL_HD bool isPatient(bool areThere, uint64_t nanos) {
    if (!areThere) {
      since = 0;
      return false;
    }
    if (since == 0) since = nanos;
    return nanos - since < kMostNanos;
  }
};

/// Where the platform has streams.
struct WaitingMemory {
  Array<Atomic<uint32_t, Scope::device>> completed{};  // this rank's
  const DeviceAwaited* device = nullptr;               // the host's memory
  const AwaitedRuns* ranks = nullptr;                  // [place], device memory
  const Atomic<uint32_t>* mustLeave = nullptr;         // the host's memory: the rank ends, whatever waits
  VainLook* vainLook = nullptr;                        // device memory

  /// Whether a stream waits for index `index` of the rank at `place`.
  DFCCL_HD bool isAwaited(uint32_t table, uint32_t place, uint32_t index) const {
    return isBefore(ranks[place].completed[index].load(order::relaxed),
                    device->awaited[table][place][index].load(order::relaxed));
  }
  /// Whether any stream waits on the device, or is about to. One look after another.
  bool isAnybodyWaiting() const {
    if (mustLeave->load(order::relaxed) != 0) return false;
    return device->intents.load(order::seqCst) != 0 || isAnyAwaited(0);
  }
  /// @param table of the daemon's that looks.
  bool isAnyAwaited(uint32_t table) const {
    const uint64_t raised = device->raised.load(order::seqCst);  // before what it counts
    if (vainLook->holds(raised, table)) return false;
    if (look(table)) return true;
    *vainLook = {raised, table};
    return false;
  }

 private:
  bool look(uint32_t table) const {
    for (uint32_t place = 0; place < DeviceAwaited::kMostRanks; ++place) {
      if (device->isRank[place].load(order::relaxed) == 0) continue;
      for (uint32_t index = 0; index < AwaitedRuns::kMost; ++index) {
        if (isAwaited(table, place, index)) return true;
      }
    }
    return false;
  }
};

}  // namespace dfccl
