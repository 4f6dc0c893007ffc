#pragma once
// A block's part in a collective where it is a single step, or copies only, which every run repeats: complete but for
// what a run brings.
#include <cstdint>

#include "dfccl/daemon/exchange.hpp"
#include "dfccl/daemon/run_addresses.hpp"
#include "dfccl/program.hpp"

namespace dfccl {

/// Its tables are its own: those that it was made from may make room for another collective's.
struct PreparedExchange : Exchange {
  static constexpr uint32_t kMostMembers = 8;

  uint64_t byteOffset;      // of this block's part in the buffers
  uint64_t evenSlotOffset;  // of runs with even numbers
  uint64_t halfBytes;       // from there to that of the others
  uint8_t* ownLandings[kMostMembers];
  double ownScales[kMostMembers];
  // In runs with even numbers: where this member's part goes, and where member 0's comes in.
  uint8_t* evenOutgoing[kMostMembers];
  const uint8_t* evenIncoming;

  DFCCL_HD void aimAt(const RunAddresses& addresses) {
    run = addresses.run;
    own = reinterpret_cast<const uint8_t*>(addresses.sendAddress) + byteOffset;
    result = reinterpret_cast<uint8_t*>(addresses.recvAddress) + byteOffset;
    slotOffset = evenSlotOffset + (addresses.run % 2 != 0 ? halfBytes : 0);
  }
};

/// One reduce-copy between members' buffers: the same place in all inputs, and one in all outputs.
struct PreparedMove {
  static constexpr uint32_t kMostOperands = 16;
  struct Operand {
    uint16_t member;
    bool isInput;
  };

  uint32_t sourceCount;
  uint32_t destinationCount;
  uint64_t elements;
  uint64_t inputOffset;
  uint64_t outputOffset;
  uint32_t divisor;                 // of avg
  Operand operands[kMostOperands];  // sources, then destinations

  DFCCL_HD uint64_t offsetOf(const Operand& operand) const { return operand.isInput ? inputOffset : outputOffset; }
};

/// Copies from members' inputs to members' outputs, which may be done in any order, and at once: nothing is copied
/// twice to the same place, and no input lies in an output.
struct PreparedCopies {
  static constexpr uint32_t kMost = 8;
  struct Copy {
    uint64_t inputOffset;
    uint64_t outputOffset;
    uint32_t elements;
    uint16_t from;  // members
    uint16_t to;
  };

  uint32_t count;
  Copy copies[kMost];
};

struct PreparedPart {
  static constexpr uint32_t kNoTask = 0xffffffff;
  enum class Kind : uint8_t { exchange, move, copies };

  uint32_t task = kNoTask;  // whose it is
  Kind kind = Kind::move;
  union {
    PreparedExchange exchange;
    PreparedMove move;
    PreparedCopies copies;
  };

  DFCCL_HD PreparedPart() {}
  DFCCL_HD bool isExchange() const { return kind == Kind::exchange; }
  DFCCL_HD bool isOf(uint32_t aTask) const { return task == aTask; }
};

}  // namespace dfccl
