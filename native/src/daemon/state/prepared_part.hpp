#pragma once
// A block's part in a collective where it is a single step, or copies only, which every run repeats: complete but for
// what a run brings.
#include <cstdint>

#include "base/program.hpp"
#include "daemon/state/exchange.hpp"
#include "daemon/state/records.hpp"
#include "daemon/state/run_addresses.hpp"

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

/// Where this member tells the others, and itself, where its buffers are in a run.
struct PreparedNotice {
  static constexpr uint32_t kMost = 8;

  uint32_t copies;
  Mailbox* mailboxes[kMost];

  /// @return whether there are few enough.
  DFCCL_HD bool aimAt(const MeetingPlaces& places, uint32_t member) {
    if (places.copyCount > kMost) return false;
    copies = places.copyCount;
    for (uint32_t i = 0; i < copies; ++i) mailboxes[i] = places.mailboxCopies[i] + member;
    return true;
  }
  DFCCL_HD void publish(const RunAddresses& run, Order o) const {
    for (uint32_t i = 0; i < copies; ++i) {
      mailboxes[i]->publish(run.publishedSend(), run.publishedRecv(), run.run, o);
    }
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
  PreparedNotice notice;

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
  PreparedNotice notice;

  /// What they read and write.
  DFCCL_HD uint64_t movedElements() const {
    uint64_t elements = 0;
    for (uint32_t i = 0; i < count; ++i) elements += uint64_t{2} * copies[i].elements;
    return elements;
  }
};

/// What else a prepared move needs of its collective, so that nothing of that has to be near.
struct PreparedMeeting {
  uint32_t members;
  uint32_t member;
  DataType type;
  ReduceOp op;
  bool isEverStaged;                       // a run may go through connectors
  const Mailbox* mailboxes;                // where this member looks
  const Atomic<uint64_t>* finishedAccess;  // this member's
  const MeetingPlaces* places;             // where they lie, not a nearer copy

  DFCCL_HD static PreparedMeeting of(const CollectiveRecord& collective) {
    const MeetingPlaces& places = *collective.places;
    return {places.members,
            collective.member,
            collective.type,
            collective.op,
            collective.staged != nullptr,
            places.mailboxes,
            &collective.shared->finishedAccess,
            &places};
  }
};

struct PreparedPart {
  static constexpr uint32_t kNoTask = 0xffffffff;
  enum class Kind : uint8_t { exchange, move, copies };

  uint32_t task = kNoTask;  // whose it is
  Kind kind = Kind::move;
  PreparedMeeting meeting;
  union {
    PreparedExchange exchange;
    PreparedMove move;
    PreparedCopies copies;
  };

  DFCCL_HD PreparedPart() {}
  DFCCL_HD const PreparedNotice& notice() const { return kind == Kind::copies ? copies.notice : move.notice; }
  DFCCL_HD bool isExchange() const { return kind == Kind::exchange; }
  /// What an exchange, a move or copies read and write.
  DFCCL_HD uint64_t movedElements() const {
    if (isExchange()) return exchange.count * 2 * exchange.members;
    if (kind == Kind::copies) return copies.movedElements();
    return move.elements * (move.sourceCount + move.destinationCount);
  }
  DFCCL_HD bool isOf(uint32_t aTask) const { return task == aTask; }
};

}  // namespace dfccl
