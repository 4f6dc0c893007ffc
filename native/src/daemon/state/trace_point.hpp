#pragma once
// The moments of a run that a platform may write down as they pass: where its time goes. A GPU writes them, with its
// clock; a CPU's daemon is looked at with a CPU's profilers.
#include <cstdint>

namespace dfccl {

enum class TracePoint : uint8_t {
  none,
  entered,           // a stay begins; the value is the time in nanoseconds (56 bits), which ties the clock to it
  left,              // ... and ends; the same value
  submissionSeen,    // an entry of the host's is at hand; the value is its position
  runTaken,          // a block has taken a run in; the value is the collective's index
  contextLoading,    // a context, or the constant part of one, is being brought near; the value is the index
  contextLoaded,     // ... and is there
  contextSaved,      // one that changed gave its place up; the value is the task
  peersKnown,        // all peers' buffers are known; the value is the collective's index
  moveOrdered,       // the workers are told to move or to look; the value is what (Work)
  moveDone,          // ... and are back
  partDone,          // this block's part is done; the value is the collective's index
  visitStuck,        // a visit found nothing; the value is the collective's index
  preempted,         // the turn went on to another task; the value is the collective's index
  runFinished,       // this block was the last one of a run; the value is the collective's index
  completionPosted,  // the host is told; the value is the completion slot
  streamCame,        // a stream has come to a run that is behind it; the value is its line
};
inline constexpr int kTracePointCount = 17;

}  // namespace dfccl
