#pragma once
// This machine's end of a connector whose other end is on another machine. The daemon has a connector like any other,
// in local memory; the proxy plays the missing rank: it takes away what a sender published and puts in what came for a
// receiver, and the two counters mean what they always mean.
//
//   sender's machine                                      receiver's machine
//     tail: daemon's   ---- slots ---->   proxies ---->     tail: proxy's
//     head: proxy's    <--- credits ---   proxies <----     head: daemon's
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/framing/protocols.hpp"
#include "daemon/state/bound_program.hpp"
#include "daemon/state/connector.hpp"
#include "network/links.hpp"

namespace dfccl {

/// Positions that are done, in any order; how far all are.
class DonePositions {
 public:
  explicit DonePositions(uint32_t slots) : isDone_(slots, 0) {}

  uint64_t end() const { return end_; }
  bool isAhead(uint64_t position) const {
    return position >= end_ && position - end_ < isDone_.size() && isDone_[position % isDone_.size()] == 0;
  }
  /// @pre isAhead(position)
  void mark(uint64_t position) {
    isDone_[position % isDone_.size()] = 1;
    while (isDone_[end_ % isDone_.size()] != 0) isDone_[end_++ % isDone_.size()] = 0;
  }

 private:
  std::vector<uint8_t> isDone_;
  uint64_t end_ = 0;
};

/// How many bytes of a slot carry something, by its position: what a program sends over a connection is the same in
/// every run.
class SlotBytes {
 public:
  SlotBytes(const BoundProgram& program, uint32_t connection);
  size_t at(uint64_t position, const Connector& connector) const;

 private:
  Protocol protocol_;
  uint64_t tiles_;
  // Wire bytes of a tile's slots, in order. All tiles but the last are alike, and a run may have millions.
  struct InTile {
    uint64_t whole, last;
  };
  std::vector<InTile> perTile_;
};

struct RemoteRegistration;

struct RemoteEnd {
  RemoteRegistration* registration;
  Connector connector;
  Protocol protocol;
  bool isSend;
  uint32_t rank;  // of the other end
  uint32_t channel;
  SlotBytes bytes;
  EndName own;
  EndName theirs;
  bool isKnown = false;   // the other end's name
  uint64_t moved = 0;     // slots handed to the link, or credits given
  uint64_t freed = 0;     // as the receiver says
  uint32_t underWay = 0;  // slots that the link still reads
  DonePositions done;     // of a sender: slots that the link has let go; of a receiver: those that came

  /// Of a sender's slots up to `tail`, those that go in one message: full ones that lie behind one another, and one
  /// more.
  SlotRange nextRange(uint64_t tail) const;
  std::span<const uint8_t> payloadOf(SlotRange slots) const;
  /// What has come for this receiver. @return whether any of it belongs there.
  bool put(SlotRange slots, std::span<const uint8_t> payload);
  /// Passes on to the sender what is free here and there.
  void free();

 private:
  bool putOne(uint64_t position, uint64_t head, std::span<const uint8_t> payload);
};

}  // namespace dfccl
