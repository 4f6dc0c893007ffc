#pragma once
// Runs that may not begin yet: each waits for a stream of the caller's to come to it, or behind a run of its own id
// that does. They wait beside the submission queue, so that no other id waits with them; runs of one id keep the order
// of their submission (decision 14).
//
//   the host's queue  ->  hold()  ->  [id]: first, next, next, last
//                                       ^ a run begins once it is the first of its id and open
//   a stream          ->  its line: a word that it counts up at each run that it comes to
//
// Every stream with runs on their way has a line of its own, in which it comes to them in the order of their numbers.
// It may come before the leader has read the entry: the word says so all the same.
#include <cstdint>

#include "base/array.hpp"
#include "base/atomics.hpp"
#include "base/sqe.hpp"
#include "daemon/state/run_addresses.hpp"

namespace dfccl {

inline constexpr uint32_t kNoPending = 0xffffffff;

/// Counts that wrap around.
DFCCL_HD constexpr bool isBefore(uint32_t count, uint32_t other) { return static_cast<int32_t>(count - other) < 0; }

struct PendingRun {
  uint64_t sendAddress;
  uint64_t recvAddress;
  uint16_t sendWindow;
  uint16_t recvWindow;
  uint32_t collective;
  uint32_t number;  // of its line: the stream has come to it when the word says so
  uint32_t next;    // the run of the same id that waits behind it, or kNoPending
  uint32_t behind;  // the next one of the same line, or kNoPending
  uint8_t isOpen;   // its stream has come, or it waits for none
  uint8_t isFirst;  // none of its id waits before it
};

/// A stream's line as the leader sees it.
struct StreamLine {
  uint32_t first;  // the run that its stream comes to next, of those that the leader has read, or kNoPending
  uint32_t last;
  uint32_t opened;  // the last run that the leader took; what the host reads is a copy, which nobody here may wait for
};

/// Where they lie, in device memory unless said otherwise: they outlive a stay. All but `arrived` is the leader's.
struct PendingMemory {
  struct Header {
    uint32_t ready;      // a run that may begin, or kNoPending
    uint32_t held;       // runs that wait
    uint32_t onLines;    // of them, those whose stream has not come
    uint32_t lineCount;  // lines that ever had one: [0, lineCount)
  };
  Header* header = nullptr;
  Array<PendingRun> runs{};                          // [completion slot]
  Array<uint32_t> lastOfId{};                        // [collective's index]: the run that waits last, or kNoPending
  Array<StreamLine> lines{};                         // [line]
  Array<Atomic<uint32_t, Scope::device>> arrived{};  // [line]: the stream's: the last run that it has come to
  Array<Atomic<uint32_t>> opened{};                  // [line], the host's memory: the last one that the leader took

  /// Whether a leader would find something to do here. @pre No daemon is inside.
  DFCCL_HD bool hasArrivals() const {
    if (header->ready != kNoPending) return true;
    for (uint32_t line = 0; header->onLines != 0 && line < header->lineCount; ++line) {
      const uint32_t first = lines[line].first;
      if (first != kNoPending && !isBefore(arrived[line].load(order::acquire), runs[first].number)) return true;
    }
    return false;
  }
};

/// The leader's view of them.
template <class P>
class PendingRuns {
 public:
  using Rules = typename P::Rules;

  DFCCL_HD explicit PendingRuns(const PendingMemory& memory)
      : m_(memory),
        held_(memory.header->held),
        onLines_(memory.header->onLines),
        lineCount_(memory.header->lineCount),
        ready_(memory.header->ready),
        seen_(0),
        isToLook_(true) {}

  /// Whether next() may have something. @param arrivals counts up with whatever comes on a line, as far as known.
  DFCCL_HD bool mayHaveNext(uint32_t arrivals) {
    isToLook_ |= arrivals != seen_;
    seen_ = arrivals;
    return ready_ != kNoPending || (isToLook_ && onLines_ != 0);
  }

  /// Whether an entry of the host's has to wait.
  DFCCL_HD bool mustWait(const Sqe& sqe) const {
    if ((sqe.flags & kSqeBehindStream) != 0) return Rules::waitsForStreams;
    return held_ != 0 && Rules::waitsBehindItsId && m_.lastOfId[sqe.id] != kNoPending;
  }

  /// Whether its stream has come to a run that nothing holds.
  DFCCL_HD bool isOpen(const Sqe& sqe) const {
    return (sqe.flags & kSqeBehindStream) == 0 || hasArrived(sqeLine(sqe), sqeNumber(sqe));
  }

  /// Its stream has come to it already, and nothing of its id waits before it: it need not be held.
  DFCCL_HD bool mayPass(const Sqe& sqe) const {
    if ((sqe.flags & kSqeBehindStream) == 0 || m_.lastOfId[sqe.id] != kNoPending) return false;
    const uint32_t line = sqeLine(sqe);
    if (m_.lines[line].first != kNoPending || !hasArrived(line, sqeNumber(sqe))) return false;
    noteOpened(line, sqeNumber(sqe));
    return true;
  }

  DFCCL_HD DFCCL_COLD void hold(const Sqe& sqe) {
    const uint32_t slot = sqe.completionSlot;
    PendingRun& run = m_.runs[slot];
    uint32_t& last = m_.lastOfId[sqe.id];
    run.sendAddress = sqe.sendAddress;
    run.recvAddress = sqe.recvAddress;
    run.sendWindow = sqe.sendWindow;
    run.recvWindow = sqe.recvWindow;
    run.collective = sqe.id;
    run.next = run.behind = kNoPending;
    run.isOpen = (sqe.flags & kSqeBehindStream) == 0;
    run.isFirst = last == kNoPending;
    if (last != kNoPending) m_.runs[last].next = slot;
    last = slot;
    ++held_;
    if (!run.isOpen) putOnLine(slot, sqeLine(sqe), sqeNumber(sqe));
    if (run.isFirst && run.isOpen) ready_ = slot;
    keep();
  }

  /// @return whether a run may begin: then it is `out`, and waits no more.
  DFCCL_HD DFCCL_COLD bool next(Sqe& out) {
    while (ready_ == kNoPending) {
      if (!takeArrival()) return false;
    }
    const uint32_t slot = ready_;
    PendingRun& run = m_.runs[slot];
    out = Sqe{};
    out.id = run.collective;
    out.completionSlot = slot;
    out.sendAddress = run.sendAddress;
    out.recvAddress = run.recvAddress;
    out.sendWindow = run.sendWindow;
    out.recvWindow = run.recvWindow;
    const uint32_t behind = run.next;
    run.isOpen = run.isFirst = 0;
    ready_ = kNoPending;
    if (behind == kNoPending) {
      m_.lastOfId[out.id] = kNoPending;
    } else {
      m_.runs[behind].isFirst = 1;
      if (m_.runs[behind].isOpen) ready_ = behind;
    }
    --held_;
    keep();
    return true;
  }

  /// Lines on which runs are awaited: [0, this).
  DFCCL_HD uint32_t awaitedLines() const { return onLines_ == 0 ? 0 : lineCount_; }

 private:
  DFCCL_HD bool hasArrived(uint32_t line, uint32_t number) const {
    return !isBefore(m_.arrived[line].load(P::kLook), number);
  }

  /// Entries of a line may come in any order: a run that had no place when it was submitted comes later than those of
  /// other ids. What its stream has come to stays so.
  DFCCL_HD void noteOpened(uint32_t line, uint32_t number) const {
    uint32_t& opened = m_.lines[line].opened;
    if (!isBefore(opened, number)) return;
    opened = number;
    m_.opened[line].store(number, order::relaxed);
  }

  DFCCL_HD void putOnLine(uint32_t slot, uint32_t line, uint32_t number) {
    StreamLine& mine = m_.lines[line];
    PendingRun& run = m_.runs[slot];
    run.number = number;
    if (mine.first == kNoPending) {
      mine.first = mine.last = slot;
    } else if (!Rules::ordersLines || isBefore(m_.runs[mine.last].number, number)) {
      m_.runs[mine.last].behind = slot;
      mine.last = slot;
    } else if (isBefore(number, m_.runs[mine.first].number)) {
      run.behind = mine.first;
      mine.first = slot;
    } else {
      uint32_t before = mine.first;
      while (isBefore(m_.runs[m_.runs[before].behind].number, number)) before = m_.runs[before].behind;
      run.behind = m_.runs[before].behind;
      m_.runs[before].behind = slot;
    }
    ++onLines_;
    if (lineCount_ <= line) lineCount_ = line + 1;
    isToLook_ = true;  // the stream may have come before its run was on the line
  }

  /// @return whether a stream has come to a run of its line, which is open from now on.
  DFCCL_HD bool takeArrival() {
    if (!isToLook_ || onLines_ == 0) return false;
    for (uint32_t line = 0; line < lineCount_; ++line) {
      StreamLine& mine = m_.lines[line];
      if (mine.first == kNoPending) continue;
      const uint32_t slot = mine.first;
      PendingRun& run = m_.runs[slot];
      if (isBefore(P::arrivedOn(m_, line), run.number)) continue;
      mine.first = run.behind;
      --onLines_;
      run.isOpen = 1;
      noteOpened(line, run.number);
      if (run.isFirst) ready_ = slot;
      keep();
      return true;
    }
    isToLook_ = false;
    return false;
  }

  /// For the next stay.
  DFCCL_HD void keep() const { *m_.header = {ready_, held_, onLines_, lineCount_}; }

  const PendingMemory& m_;
  uint32_t held_;
  uint32_t onLines_;
  uint32_t lineCount_;
  uint32_t ready_;
  uint32_t seen_;  // arrivals
  bool isToLook_;  // something may have come since all lines were looked at
};

/// Where there are no streams.
struct NoPendingRuns {
  DFCCL_HD explicit NoPendingRuns(const PendingMemory&) {}
  DFCCL_HD static constexpr bool mayHaveNext(uint32_t) { return false; }
  DFCCL_HD static constexpr bool mustWait(const Sqe&) { return false; }
  DFCCL_HD static constexpr bool isOpen(const Sqe&) { return true; }
  DFCCL_HD static constexpr bool mayPass(const Sqe&) { return false; }
  DFCCL_HD static constexpr bool next(Sqe&) { return false; }
  DFCCL_HD static void hold(const Sqe&) {}
  DFCCL_HD static constexpr uint32_t awaitedLines() { return 0; }
};

}  // namespace dfccl
