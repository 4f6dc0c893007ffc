#pragma once
// This process's memory, as it lets the others map it: which windows an allocation has, and what the others are told.
// Telling them never waits for them: a run that names a window which they haven't opened waits in their daemons.
#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/atomics.hpp"
#include "daemon/state/windows.hpp"
#include "processes/segment.hpp"
#include "processes/window_notes.hpp"

namespace dfccl {

/// What the driver says of the allocation that an address lies in.
struct OwnMemory {
  uint64_t first = 0;
  uint64_t bytes = 0;     // 0: it knows of none
  uint64_t identity = 0;  // of no two allocations of a process, even at the same address
};

/// Whose memory it is: CUDA's, or a test's.
struct ExportingDriver {
  std::function<OwnMemory(uint64_t address)> memoryAt;
  std::function<uint64_t(uint64_t address)> identityAt;  // 0: there is no memory
  /// @throws Error where other processes can't map it.
  std::function<void(const OwnMemory&, uint8_t (&handle)[WindowNote::kHandleBytes])> exportMemory;
};

class OwnWindows {
 public:
  /// Takes the ring from the segment and lets the others see it. @throws Error dfcclOutOfMemory
  OwnWindows(std::shared_ptr<Segment> segment, ExportingDriver driver);

  /// The window in which `address` lies. The first time that its allocation is asked about, the others are told.
  /// Any thread. @throws Error dfcclQueueFull where they don't keep up; as exportMemory.
  uint16_t windowOf(uint64_t address);
  /// The same where no run waits for the others: windows::kUnmapped until all others have mapped it, and where they
  /// can't. Any thread; it asks the driver for an identity at most.
  uint16_t mappedWindowOf(uint64_t address);
  /// Tells the others about what mappedWindowOf() was asked for. A thread that nobody waits for: exporting may take as
  /// long as another thread keeps the driver to itself.
  void exportWanted();
  /// The allocation that begins here stays until forget(): whether it is still the same need not be asked at every run,
  /// which costs a driver's call, most of a microsecond on a GPU.
  void keep(uint64_t first);
  /// The allocation that begins here is about to be freed. @return after which note nobody has it mapped: isReleased();
  /// nothing: nobody ever could. @throws Error dfcclQueueFull
  std::optional<uint64_t> forget(uint64_t first);
  /// Whether all others that are there have read a note, and have unmapped what it or one before it closes.
  bool isReleased(uint64_t position) const;
  /// Tells the others about allocations that were freed without a word, so that theirs is not the last hold on them.
  void sweep();
  /// How often a number has come again. As long as it is the same, whatever windowOf() or mappedWindowOf() returned
  /// before it was asked is the name of one memory. Any thread.
  uint32_t renewals() const { return renewals_.load(order::acquire); }
  /// Allocations that the others may map.
  size_t size() const;

 private:
  enum class Reach : uint8_t { unknown, mapped, refused };  // by all others; by one
  struct Opened {
    uint64_t bytes;
    uint64_t identity;
    uint16_t window = 0;  // 0: it can't be exported
    bool isKept = false;
    Reach reach = Reach::unknown;
    uint64_t position = 0;  // of the note
  };
  struct Retired {
    uint16_t window;
    uint32_t pieces;
    uint64_t position;  // of the note
  };
  using Table = std::map<uint64_t, Opened>;  // by first address

  Table::iterator find(uint64_t address);
  Table::iterator open(uint64_t address);
  void exportOne(uint64_t address);
  Table::iterator announce(const OwnMemory& memory, WindowNote& note);
  Reach reachOf(const Opened& opened) const;
  /// Whether all others that are there have read a note, and mapped what it opens.
  bool isTaken(uint64_t position) const;
  /// @param counts [rank]: notes.
  bool havePassed(const Atomic<uint64_t>* counts, uint64_t position) const;
  Table::iterator close(Table::iterator opened);
  void closeOverlapping(const OwnMemory& memory);
  uint16_t takeWindows(uint32_t pieces);
  void noteRenewal(uint32_t window, uint32_t pieces);
  void publish(const WindowNote& note);

  std::shared_ptr<Segment> segment_;
  ExportingDriver driver_;
  WindowNotes* notes_;
  mutable std::mutex mutex_;
  Table opened_;
  std::set<uint64_t> kept_;            // first addresses
  std::set<uint64_t> wanted_;          // addresses, to be exported
  std::map<uint32_t, uint32_t> used_;  // pieces, by first window
  std::vector<Retired> retired_;
  uint32_t next_ = 1;  // where the search for free windows goes on
  std::bitset<windows::kCount> had_;
  Atomic<uint32_t> renewals_;
};

}  // namespace dfccl
