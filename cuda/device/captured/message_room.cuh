#pragma once
// When a message's sender may put a tile into the receiver's slot. It waits for nothing else: what fits into the two
// slots of a lane is sent, and over for the sender, before the receiver has come. For the receiver says, in the
// sender's landing area, what it has taken out.
//
// A small message is a tile a lane, so its sender is at most two runs ahead. Large ones begin with a meeting of both in
// each run, behind which both slots are empty.
#include "device/captured/captured_run.cuh"

namespace dfccl::gpu {

/// In one lane of a run.
class MessageRoom {
 public:
  /// @param number of the run, over all of the lane's.
  DFCCL_HD MessageRoom(const CapturedRun& run, const CapturedMembers& members, uint32_t lane, uint32_t number)
      : run_(run), members_(members), lane_(lane), number_(number) {}

  DFCCL_HD bool isSender() const { return run_.member == run_.root; }
  /// Whether the receiver has taken out what lay where the tile goes. @pre isSender()
  DFCCL_HD bool isFreeFor(uint32_t tile, Order o) const {
    if (run_.layout.isLarge && tile < kSlots) return true;
    const uint64_t word = taken().load(o);
    const auto runOfWord = static_cast<uint32_t>(word >> 32), tiles = static_cast<uint32_t>(word);
    if (run_.layout.isLarge) return runOfWord == number_ && tiles + kSlots > tile;
    const uint32_t ahead = (number_ - runOfWord) % kNumbers;
    return ahead < kSlots || (ahead == kSlots && tiles != 0);
  }
  /// @pre !isSender(), and the tile was taken out.
  DFCCL_HD void sayTaken(uint32_t tile, Order o) const { taken().store(uint64_t{number_} << 32 | (tile + 1), o); }

 private:
  static constexpr uint32_t kSlots = 2;
  static constexpr uint32_t kNumbers = uint32_t{1} << 31;  // see CapturedTurn

  DFCCL_HD Atomic<uint64_t>& taken() const {
    uint8_t* const behindPosts = members_.landings[run_.root] + run_.layout.postsBytes(run_.members);
    return reinterpret_cast<MessageTaken*>(behindPosts)[lane_].word;
  }

  const CapturedRun& run_;
  const CapturedMembers& members_;
  const uint32_t lane_;
  const uint32_t number_;
};

}  // namespace dfccl::gpu
