#pragma once
// One slice of an exchange: every member sends its part to all others at once, each word with a flag in it, and reduces
// what the others sent from memory of its own. Nothing else has to be agreed on: no mailbox, no signal, no credit.
//
//   landing area of a member:   parity 0                              parity 1
//                              | from 0 | from 1 | ... | from n - 1 | from 0 | ...      each: [chunk][tile] slots
//
// Run k uses the half k % 2. That is enough: whoever sends for run k + 2 has everybody's part of run k + 1, and a
// member sends that only after it has finished run k.
#include <cstdint>

#include "base/host_device.hpp"
#include "base/types.hpp"

namespace dfccl {

struct Exchange {
  DataType type;
  ReduceOp op;
  uint8_t isSent;      // this member's part is on its way already
  uint8_t isSendOnly;  // nothing is to be received yet
  uint32_t member;
  uint32_t members;
  uint32_t divisor;          // of avg
  uint64_t run;              // flags are made of it
  const void* own;           // this member's part ...
  void* result;              // ... and where the reduced one goes; they may be the same
  uint64_t count;            // elements
  const double* scales;      // [member], of scaledSum
  uint8_t* const* landings;  // [member]
  uint64_t slotOffset;       // of member 0's slot, within a landing area
  uint64_t memberStride;     // from one member's slot to the next one's

  DFCCL_HD uint8_t* outgoing(uint32_t to) const { return landings[to] + slotOffset + member * memberStride; }
  DFCCL_HD uint8_t* incoming(uint32_t from) const { return landings[member] + slotOffset + from * memberStride; }
};

}  // namespace dfccl
