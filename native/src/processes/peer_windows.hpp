#pragma once
// The others' memory, as this process sees it: it maps what they announce, and knows where.
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "processes/segment.hpp"
#include "processes/window_notes.hpp"

namespace dfccl {

/// Who maps it: CUDA, or a test.
struct ImportingDriver {
  /// @return where the memory is seen here; nothing: other memory of its block of the driver's is mapped, and has to be
  /// unmapped first. @throws Error
  std::function<std::optional<uint64_t>(uint32_t owner, const WindowNote&)> map;
  /// @return false: it may not be done yet. @param isEnd it must: nothing runs any more.
  std::function<bool(uint32_t owner, uint64_t seenAt, bool isEnd)> unmap;
  /// Stores into the table of `owner` (daemon/state/windows.hpp), from `window` on.
  std::function<void(uint32_t owner, uint16_t window, const std::vector<uint64_t>& bases)> setBases;
};

class PeerWindows {
 public:
  PeerWindows(std::shared_ptr<Segment> segment, ImportingDriver driver);

  /// Does what the others have announced since the last time. One thread.
  /// @return false: some of it has to wait, so it is to be called again soon.
  bool take();
  /// What a rank has announced first, and where it is seen here: {0, 0} if that is not known yet. That thread.
  struct FirstSeen {
    uint64_t first;
    uint64_t seenAt;
  };
  FirstSeen firstOf(uint32_t owner) const { return owners_[owner].firstSeen; }
  /// Why memory of a rank couldn't be mapped; "" where all could. That thread.
  const std::string& failureOf(uint32_t owner) const { return owners_[owner].failure; }
  /// Unmaps everything. That thread, or any after it.
  void close();

 private:
  struct Mapped {
    uint64_t seenAt;
    size_t pieces;
  };
  struct Closed {
    uint64_t position;  // of the note
    uint64_t seenAt;
    uint64_t bytes;
  };
  struct Owner {
    uint64_t taken = 0;
    FirstSeen firstSeen{0, 0};
    std::map<uint16_t, Mapped> mapped;  // by first window
    std::deque<Closed> closed;          // ... and what is to be unmapped, the oldest first
    std::string failure;
  };

  enum class Taken { yes, refused, later };
  /// @return refused: what is optional could not be mapped.
  Taken take(uint32_t owner, WindowNotes& notes, const WindowNote& note);
  Taken map(uint32_t owner, WindowNotes& notes, const WindowNote& note);
  /// Whether behind a note there is one of memory that a run may wait for.
  static bool isAnyAwaited(const WindowNotes& notes, uint64_t taken, uint64_t tail);
  /// What may be. @return whether that is everything.
  bool unmapClosed(uint32_t owner, WindowNotes& notes);
  /// Whether so much that is freed waits to be unmapped that nothing more is to be kept from being freed.
  bool isTooMuchClosed() const;

  std::shared_ptr<Segment> segment_;
  ImportingDriver driver_;
  std::vector<Owner> owners_;  // [rank]
};

}  // namespace dfccl
