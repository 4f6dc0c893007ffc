#pragma once
#include <cstdint>

namespace dfccl {

/// What stays the same while a run is under way.
struct RunAddresses {
  uint64_t run;
  uint64_t sendAddress;
  uint64_t recvAddress;
  uint32_t partsAtEnd;  // what the count of its parts says when all are done, see RunCount
};

}  // namespace dfccl
