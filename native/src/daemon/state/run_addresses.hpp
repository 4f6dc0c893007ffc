#pragma once
#include <cstdint>

#include "daemon/state/windows.hpp"

namespace dfccl {

/// What stays the same while a run is under way.
struct RunAddresses {
  uint64_t run;
  uint64_t sendAddress;
  uint64_t recvAddress;
  uint32_t partsAtEnd;  // what the count of its parts says when all are done, see RunCount
  uint16_t sendWindow;
  uint16_t recvWindow;

  /// As the other members are told.
  DFCCL_HD uint64_t publishedSend() const { return windows::named(sendAddress, sendWindow); }
  DFCCL_HD uint64_t publishedRecv() const { return windows::named(recvAddress, recvWindow); }
};

}  // namespace dfccl
