#pragma once
// A rank of a world on several machines whose network is the test's: the others say what the test has them say.
#include <bit>
#include <memory>
#include <optional>
#include <utility>

#include "dfccl/dfccl.h"
#include "network/support/fake_transport.hpp"
#include "network/support/queued_transport.hpp"
#include "opening/segment_shape.hpp"
#include "processes/segment_places.hpp"
#include "processes/support/joined_rank.hpp"
#include "processes/support/processes.hpp"

namespace dfccl::test {

inline constexpr uint32_t kRanks = 3;

inline std::shared_ptr<Segment> segmentFor(const WorldOptions& options) {
  const SegmentShape shape = shapeOf(options);
  const SegmentPlaces places(newJob(), Segment::bytesOf(shape));
  const auto place = static_cast<uint32_t>(std::countr_zero(places.freeHere()));
  auto segment = Segment::create(shape, 0, places.addressOf(place), {0});
  segment->join();
  return segment;
}

/// Another rank, of which only what it says is there.
struct Speaker final : Links::Receiver {
  Speaker(uint32_t rank, const Digest& key) : side(rank, key, *this, 3'600'000, kRanks) {}
  void receivedSlots(uint32_t, EndName, SlotRange, std::span<const uint8_t>) override {}
  void receivedCredit(uint32_t, EndName, uint64_t) override {}
  void receivedNote(uint32_t, std::span<const uint8_t>) override {}
  void sentSlots(EndName, SlotRange) override {}
  void lostLink(uint32_t, Presence) override {}

  Side side;
};

/// Rank 0 of three, each on a machine of its own.
class FirstRank {
 public:
  FirstRank() {
    WorldOptions options = smallWorld(kRanks);
    options.muteMillis = 3'600'000;
    options.segment = segmentFor(options);
    options.network = std::make_shared<Network>();
    options.network->hostOf = allRanks(kRanks);
    options.network->addresses.resize(kRanks);
    options.network->key = key_;
    auto made = std::make_unique<QueuedTransport>();
    transport_ = made.get();
    options.network->transport = std::move(made);
    world_.emplace(options);
  }
  ~FirstRank() {
    // Nobody waits for their goodbyes.
    for (uint32_t r = 1; r < kRanks; ++r) transport_->lose(r);
  }

  CpuWorld& world() { return *world_; }
  /// @return what it has told of its registration: the others' say the same.
  Announcement announced() {
    Announcement announcement = transport_->awaitNote(1, NoteKind::registered).announcement;
    announcement.ends.clear();
    return announcement;
  }
  /// @return the first that a rank was told of.
  RegistrationKey awaitPoisoned(uint32_t rank) {
    return transport_->awaitNote(rank, NoteKind::poisoned).registration.key;
  }
  std::vector<NoteKind> toldBefore(uint32_t rank, const CollectiveId& id) { return transport_->kindsBefore(rank, id); }
  void hear(uint32_t from, std::vector<uint8_t> note) {
    Speaker& speaker = speakers_[from - 1];
    speaker.side.links->sendNote(0, std::move(note));
    for (auto& m : std::exchange(speaker.side.transport->sent, {})) transport_->deliver(m.header, m.payload);
  }

 private:
  const Digest key_ = randomDigest();
  Speaker speakers_[kRanks - 1] = {{1, key_}, {2, key_}};
  QueuedTransport* transport_ = nullptr;
  std::optional<CpuWorld> world_;
};

}  // namespace dfccl::test
