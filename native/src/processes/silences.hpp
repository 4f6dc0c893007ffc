#pragma once
// How long each rank has given no sign of life, for one who looks now and then: a pure function of what it saw and
// when.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace dfccl {

/// By how much a look is late doesn't count. Where this process itself has been stopped, alone or with its whole job,
/// it can't tell how long the others have been silent: they may be going on only after it.
class Silences {
 public:
  /// @param periodMillis in which it looks at the latest, if nothing keeps it.
  Silences(uint32_t ranks, uint32_t periodMillis, uint64_t nowMillis)
      : periodMillis_(periodMillis), lastLookMillis_(nowMillis), seen_(ranks, {0, 0}) {}

  /// It looks again.
  void look(uint64_t nowMillis) {
    awakeMillis_ += std::min<uint64_t>(nowMillis - std::exchange(lastLookMillis_, nowMillis), periodMillis_);
  }
  /// @param heartbeat what the rank has counted up to. @return milliseconds since it was first seen there.
  uint64_t of(uint32_t rank, uint64_t heartbeat) {
    Seen& seen = seen_[rank];
    if (heartbeat != seen.heartbeat) seen = {heartbeat, awakeMillis_};
    return awakeMillis_ - seen.sinceMillis;
  }

 private:
  struct Seen {
    uint64_t heartbeat;
    uint64_t sinceMillis;  // of the time that this process was awake
  };

  const uint32_t periodMillis_;
  uint64_t lastLookMillis_;
  uint64_t awakeMillis_ = 0;
  std::vector<Seen> seen_;
};

}  // namespace dfccl
