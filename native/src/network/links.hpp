#pragma once
// This process's links to the processes on other machines, one each: what goes over them, who is still there, and that
// nobody else's messages are taken for theirs.
//
// Four kinds of messages. Data fills slots of a connector, as many as lie behind one another: a message costs as much
// as tens of kilobytes. Credits say how far slots have been freed. Notes are what registration and leaving tell; they
// arrive in the order in which they were sent. A beat says only that this process lives. Every message carries the
// link's token, which only who knows the job's secret can derive.
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/atomics.hpp"
#include "network/network.hpp"
#include "processes/segment.hpp"

namespace dfccl {

/// An end of a connector, as its process numbers it. Numbers are used again, with another tag.
struct EndName {
  uint32_t number = 0;
  uint32_t tag = 0;
};

/// Slots of a connector, one behind the other.
struct SlotRange {
  uint64_t first = 0;  // position
  uint32_t count = 1;
};

class Links final : private Transport::Events {
 public:
  class Receiver {
   public:
    virtual ~Receiver() = default;
    /// @param payload whole slots but for the last
    virtual void receivedSlots(uint32_t from, EndName end, SlotRange slots, std::span<const uint8_t> payload) = 0;
    virtual void receivedCredit(uint32_t from, EndName end, uint64_t freed) = 0;
    virtual void receivedNote(uint32_t from, std::span<const uint8_t> note) = 0;
    /// The memory of slots that were sent may be used again. @param slots low bits of the first one's position
    virtual void sentSlots(EndName own, SlotRange slots) = 0;
    virtual void lostLink(uint32_t rank, Presence presence) = 0;
  };

  Links(Network& network, uint32_t rank, uint32_t muteMillis, Receiver& receiver);
  ~Links() override;

  static constexpr uint32_t kMostSlots = 255;  // of a message
  static constexpr uint64_t kPositionBits = 20;
  /// @param own this process's end, for sentSlots().
  void sendSlots(uint32_t rank, EndName end, SlotRange slots, std::span<const uint8_t> payload, EndName own);
  void sendCredit(uint32_t rank, EndName end, uint64_t freed);
  void sendNote(uint32_t rank, std::vector<uint8_t> note);
  /// Credits and beats that are due.
  void flush(uint64_t nowMillis);
  /// Looks who has been silent for too long. @param isAwake false where this process itself has been stopped.
  void judge(uint64_t nowMillis, bool isAwake);

  bool isUp(uint32_t rank) const { return links_[rank] && links_[rank]->isUp; }
  /// Slots given to a link so far; slots that have come in.
  uint64_t slotsSentTo(uint32_t rank) const { return links_[rank]->slotsSent; }
  uint64_t slotsFrom(uint32_t rank) const { return links_[rank]->slotsReceived; }
  const std::vector<uint32_t>& peers() const { return peers_; }
  uint32_t ranks() const { return static_cast<uint32_t>(links_.size()); }
  uint32_t beatMillis() const { return beatMillis_; }
  Transport& transport() { return *network_.transport; }

 private:
  static constexpr size_t kTokenBytes = 16;
  using Token = std::array<uint8_t, kTokenBytes>;
  enum Kind : uint32_t { slot, credits, note, beat };
  struct Header {
    uint32_t magic;
    uint32_t kind;
    uint32_t from;
    EndName end;      // of slots: the receiver's
    uint32_t slots;   // how many
    uint64_t number;  // of slots: the first one's position; of a note: how many were before it
    Token token;
  };
  static_assert(sizeof(Header) <= Transport::kMostHeaderBytes);
  struct Credit {
    EndName end;
    uint64_t freed;
  };
  struct Link {
    Token toThem, toUs;
    bool isUp = true;
    bool areCreditsUnderWay = false;
    bool isBeatUnderWay = false;
    std::vector<Credit> credits;  // to send
    uint64_t notesSent = 0, notesReceived = 0;
    std::map<uint64_t, std::vector<uint8_t>> earlyNotes;
    uint64_t slotsSent = 0, slotsReceived = 0;
    uint64_t lastHeardMillis = 0, lastSentMillis = 0;
  };
  struct Kept {
    Kind kind;
    uint32_t rank;
    std::vector<uint8_t> payload;
  };

  void received(std::span<const uint8_t> header, std::span<const uint8_t> payload) override;
  void sent(uint64_t cookie) override;
  void lost(uint32_t rank, const std::string& why) override;
  void sendKept(Kind kind, uint32_t rank, uint64_t number, std::vector<uint8_t> payload);
  Header headerFor(const Link& link, Kind kind) const;
  void takeNote(uint32_t from, uint64_t number, std::span<const uint8_t> payload);

  Network& network_;
  const uint32_t rank_;
  const uint32_t muteMillis_, beatMillis_;
  Receiver& receiver_;
  std::vector<std::unique_ptr<Link>> links_;  // [rank]; null: shares memory with this one
  std::vector<uint32_t> peers_;
  std::map<uint64_t, Kept> kept_;  // [cookie]: payloads that the transport still reads
  uint64_t nextKept_ = 0;
};

}  // namespace dfccl
