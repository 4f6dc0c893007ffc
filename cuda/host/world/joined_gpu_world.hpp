#pragma once
// One rank on a GPU whose peers are other processes of this machine. They meet in the segment; their devices' memory is
// mapped through CUDA IPC, each allocation once, by a thread that holds no lock meanwhile.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host/member/joined_registration.hpp"
#include "host/world/gpu_world.hpp"
#include "host/world/other_machines.hpp"
#include "processes/agreement.hpp"
#include "processes/own_windows.hpp"
#include "processes/peer_watch.hpp"
#include "processes/peer_windows.hpp"
#include "processes/shared_directory.hpp"

namespace dfccl::gpu {

class JoinedGpuWorld final : public GpuWorld {
 public:
  /// @pre options.segment. @throws Error
  explicit JoinedGpuWorld(const GpuWorldOptions& options);
  ~JoinedGpuWorld() override;

  uint32_t processes() const override { return segment_->ranks(); }
  RunWindows windowsOf(uint32_t rank, const RunShape& shape, const void* send, const void* recv) override;
  void* allocate(uint32_t rank, size_t bytes) override;
  void free(uint32_t rank, void* memory, size_t bytes) override;
  std::vector<LostRank> lostRanks() override;
  std::vector<LostRank> lostFor(uint32_t rank, uint32_t index) override;
  std::optional<std::vector<uint32_t>> agreeOnSurvivors() override;
  std::vector<uint32_t> awaitedByAgreement() override;
  uint64_t freeMemoryBytes(uint32_t rank) const override;
  size_t remoteBytesOf(uint32_t) override { return machines_ ? machines_->bytes() : 0; }
  std::string whyAborted(uint32_t rank, uint32_t index) override;
  void stop() override;

 protected:
  std::shared_ptr<DeviceRegistration> enter(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                            std::unique_ptr<GpuMember> own) override;
  std::shared_ptr<DeviceRegistration> comeBack(const CollectiveSpec& spec, uint32_t member,
                                               const CollectiveRecord& begun, const MemberHome& home) override;
  std::unique_ptr<Segment::Lock> lockSegment() override { return std::make_unique<Segment::Lock>(*segment_); }
  void depart(uint32_t rank, Registered& entry, Departure departure, uint64_t finishedRuns) override;
  void poison(uint32_t rank, Registered& entry) override;
  std::unique_ptr<RemoteConnectors> remoteConnectorsOf(const CollectiveSpec& spec) override {
    return machines_->connectorsOf(spec);
  }

 private:
  static constexpr uint32_t kRetryMicros = 1000;  // ... while something waits for streams that wait
  static constexpr uint32_t kPeriodMillis = 50;   // how often its threads look when nobody calls them

  struct Freed {
    void* memory;
    uint64_t position;  // of the note that says so
  };

  Presence presenceOf(uint32_t rank) const {
    return machines_ ? machines_->presenceOf(rank) : segment_->presenceOf(rank);
  }
  std::shared_ptr<JoinedRegistration> join(const CollectiveSpec& spec, uint32_t member, uint64_t digest,
                                           std::unique_ptr<GpuMember> own);
  void noteIncomplete(const std::shared_ptr<JoinedRegistration>& registration);
  // joined_gpu_world_mapping.cpp
  void mapPeers();
  void noteMapped();
  /// Where this process sees an owner's windows, from one on.
  void setBases(uint32_t owner, uint16_t window, const std::vector<uint64_t>& bases);
  void awaitArenas();
  // joined_gpu_world_serving.cpp
  void serve();
  void giveUp(const std::string& why);
  void completeRegistrations();
  bool complete(JoinedRegistration& registration);
  void freeDeparted();
  void freeForgotten();
  void checkPeers();
  void mirror();
  void mirrorRuns(uint32_t index, uint64_t submitted, uint64_t finished);
  /// What the others see of a place that is taken.
  void mirrorPlace(const CollectiveSpec& spec, uint32_t member, uint32_t index, uint64_t runs);

  const std::shared_ptr<Segment> segment_;
  const uint32_t own_;
  SharedDirectory directory_;
  std::vector<Atomic<uint64_t>*> tables_;        // [rank], on the device: where the others' windows are seen
  std::vector<Atomic<uint64_t>*> tablesInHost_;  // ... and the same in pinned memory
  Agreement agreement_;                          // under mutex()
  OwnWindows ownWindows_;
  PeerWindows peerWindows_;                                      // the mapping thread's
  std::vector<uint64_t> arenasSeen_;                             // [rank]: where its arena is mapped; under mutex()
  std::vector<std::shared_ptr<JoinedRegistration>> incomplete_;  // under mutex()
  std::vector<std::shared_ptr<JoinedRegistration>> departed_;    // under mutex()
  std::vector<std::string> failures_;  // [rank]: why its memory can't be mapped; under mutex()
  std::vector<Freed> freed_;           // under mutex()
  Atomic<uint32_t> stopping_;
  Atomic<uint32_t> incompleteCount_;         // as many as incomplete_ has
  std::unique_ptr<OtherMachines> machines_;  // null: all ranks are on this one
  std::thread server_;
  std::thread mapper_;
  std::optional<PeerWatch> watch_;
};

}  // namespace dfccl::gpu
