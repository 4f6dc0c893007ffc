#pragma once
#include <cstdint>

namespace dfccl {

/// What stays the same while a run is under way.
struct RunAddresses {
  uint64_t run;
  uint64_t sendAddress;
  uint64_t recvAddress;
};

}  // namespace dfccl
