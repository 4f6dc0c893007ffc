#pragma once
#include <cstdint>

namespace dfccl {

/// Where a run is that is a kernel in its stream: for streams that are to wait for it.
struct PlaceInStream {
  uint64_t stream = 0;          // which, of all that there ever were
  uint64_t number = 0;          // of its collective's such runs on this rank, from 1; 0: it is none
  bool isForItsStream = false;  // what it has written is for what comes behind it there, and for no other stream
};

}  // namespace dfccl
