#pragma once
// A block's part in a collective where it is a single step, which every run repeats: complete but for what a run
// brings.
#include <cstdint>

#include "dfccl/daemon/exchange.hpp"
#include "dfccl/daemon/run_addresses.hpp"
#include "dfccl/program.hpp"

namespace dfccl {

struct PreparedExchange : Exchange {
  uint64_t byteOffset;      // of this block's part in the buffers
  uint64_t evenSlotOffset;  // of runs with even numbers
  uint64_t halfBytes;       // from there to that of the others

  DFCCL_HD void aimAt(const RunAddresses& addresses) {
    run = addresses.run;
    own = reinterpret_cast<const uint8_t*>(addresses.sendAddress) + byteOffset;
    result = reinterpret_cast<uint8_t*>(addresses.recvAddress) + byteOffset;
    slotOffset = evenSlotOffset + (addresses.run % 2 != 0 ? halfBytes : 0);
  }
};

/// One reduce-copy between members' buffers.
struct PreparedMove {
  static constexpr uint32_t kMostOperands = 16;
  struct Operand {
    uint32_t member;
    BufferKind buffer;
    uint64_t byteOffset;
  };

  uint32_t sourceCount;
  uint32_t destinationCount;
  uint64_t elements;
  uint32_t divisor;                 // of avg
  Operand operands[kMostOperands];  // sources, then destinations
};

struct PreparedPart {
  static constexpr uint32_t kNoTask = 0xffffffff;

  uint32_t task = kNoTask;  // whose it is
  bool isExchange = false;
  PreparedExchange exchange;
  PreparedMove move;

  DFCCL_HD bool isOf(uint32_t aTask) const { return task == aTask; }
};

}  // namespace dfccl
