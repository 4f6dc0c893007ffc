#pragma once
// One registration of an id by ranks of this process: every member has a copy of what they share, in its own memory,
// and all are complete when the last has come.
#include <cstdint>
#include <memory>
#include <vector>

#include "host/member/device_registration.hpp"
#include "host/member/gpu_member.hpp"
#include "world/joint_registration.hpp"

namespace dfccl::gpu {

class GpuRegistration final : public DeviceRegistration {
 public:
  /// @param arenas of the members' devices, in the order of spec.ranks.
  GpuRegistration(const CollectiveSpec& spec, uint64_t programDigest, std::vector<DeviceArena*> arenas);

  /// @throws Error dfcclRegistrationMismatch
  void checkAgreement(const CollectiveSpec& spec, uint64_t programDigest, uint32_t rank) const {
    dfccl::checkAgreement(spec_, programDigest_, spec, programDigest, rank);
  }
  bool hasJoined(uint32_t member) const { return members_[member].own != nullptr; }
  bool isMember(uint32_t member) const { return hasJoined(member) && !members_[member].hasLeft; }
  bool isAway(uint32_t member) const { return members_[member].isAway; }
  /// All that ever joined have left, and nobody comes back.
  bool isAbandoned() const;

  /// The last one completes all.
  void join(uint32_t member, std::unique_ptr<GpuMember> own);
  /// @param finishedRuns of the member: all that it has submitted.
  void leave(uint32_t member, Departure departure, uint64_t finishedRuns);
  /// As GpuMember has it. @pre isAway(member)
  void comeBack(uint32_t member, const CollectiveRecord& begun, const MemberHome& home);

  /// Gives it up: whoever registers the id anew begins another one. @return false: somebody has already.
  bool poison(uint32_t rank);
  uint32_t indexOf(uint32_t member) const { return members_[member].own->index(); }

  const CollectiveSpec& spec() const override { return spec_; }
  bool isPoisoned() const override { return poisonedBy_ != CollectiveShared::kNobody; }
  bool isQuarantineOver() override;
  std::vector<MemberProgress> progress(const std::function<uint64_t(uint32_t rank, uint32_t index)>& issuedOf) override;
  uint64_t finishedRunsOf(uint32_t member) const override { return members_[member].own->finishedRuns(); }
  uint64_t runsAtLeaving(uint32_t member) const override { return members_[member].own->runsAtLeaving(); }
  size_t bytesOf(uint32_t member) const override { return members_[member].own->bytes(); }
  GpuMember& memberHere(uint32_t member) override { return *members_[member].own; }
  void letKernelsEnd() override;

 private:
  struct Member {
    std::unique_ptr<GpuMember> own;
    bool hasLeft = false;
    bool isAway = false;   // ... for now
    bool isAsked = false;  // its daemon is to acknowledge the abort
  };

  CollectiveSpec spec_;
  uint64_t programDigest_;
  std::vector<DeviceArena*> arenas_;
  std::vector<Member> members_;
  uint32_t joined_ = 0;
  uint32_t poisonedBy_ = CollectiveShared::kNobody;
};

}  // namespace dfccl::gpu
