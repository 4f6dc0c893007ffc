#pragma once
#include <cstdint>

namespace dfccl {

/// How a visit to a task ends.
enum class Outcome : uint8_t {
  stuck,       // waits for somebody else
  paused,      // made progress and used its budget up
  blockDone,   // this block's part is finished; other blocks of the rank still run
  completed,   // the run is finished on this rank, and nobody touches its buffers any more
  aborted,     // this block's part was the last, but another block has given its part up
  mismatched,  // ... and the members' counts differ: nothing was moved
};

}  // namespace dfccl
