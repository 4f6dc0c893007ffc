#pragma once
// One registration of an id whose members are processes: what they agreed on lies in the segment, and of the devices'
// memory this process has its own member's.
#include <memory>

#include "host/member/device_registration.hpp"
#include "host/member/gpu_member.hpp"
#include "processes/shared_registration.hpp"

namespace dfccl::gpu {

class JoinedRegistration final : public DeviceRegistration {
 public:
  JoinedRegistration(std::shared_ptr<SharedRegistration> shared, uint32_t member, std::unique_ptr<GpuMember> own)
      : shared_(std::move(shared)), member_(member), own_(std::move(own)) {}

  SharedRegistration& shared() { return *shared_; }
  const std::shared_ptr<SharedRegistration>& sharedHandle() const { return shared_; }
  uint32_t member() const { return member_; }
  GpuMember& own() { return *own_; }

  /// @return by whom; CollectiveShared::kNobody: by nobody.
  uint32_t poisonedBy() const { return shared_->shared().poisonedBy.load(order::acquire); }
  /// @return false: somebody has already.
  bool poison(uint32_t rank) {
    uint32_t nobody = CollectiveShared::kNobody;
    return shared_->shared().poisonedBy.compareExchange(nobody, rank, order::acqRel, order::relaxed);
  }

  const CollectiveSpec& spec() const override { return shared_->spec(); }
  bool isPoisoned() const override { return poisonedBy() != CollectiveShared::kNobody; }
  bool isQuarantineOver() override {
    for (uint32_t m = 0; m < spec().ranks.size(); ++m) {
      if (!shared_->hasLetGo(m)) return false;
    }
    return true;
  }
  std::vector<MemberProgress> progress(
      const std::function<uint64_t(uint32_t rank, uint32_t index)>& issuedOf) override {
    std::vector<MemberProgress> members;
    for (uint32_t m = 0; m < spec().ranks.size(); ++m) {
      const uint32_t rank = spec().ranks[m];
      if (!shared_->isMember(m)) {
        const uint64_t runs = shared_->runsAtLeaving(m);
        members.push_back({rank, shared_->isAway(m), runs, runs});
        continue;
      }
      const CollectiveRecord& record = shared_->recordOf(m);
      const uint64_t submitted = record.submittedRuns.load(order::acquire);
      // Of what other machines' streams have yet to come to, nobody tells.
      const uint64_t issued = m == member_              ? issuedOf(rank, own_->index())
                              : shared_->isElsewhere(m) ? submitted
                                                        : shared_->issuedRunsOf(m);
      members.push_back({rank, true, submitted, record.finishedRuns.load(order::acquire), issued});
    }
    return members;
  }
  uint64_t finishedRunsOf(uint32_t) const override { return own_->finishedRuns(); }
  uint64_t runsAtLeaving(uint32_t) const override { return own_->runsAtLeaving(); }
  size_t bytesOf(uint32_t) const override { return own_->bytes(); }
  GpuMember& memberHere(uint32_t) override { return *own_; }
  void letKernelsEnd() override {
    if (own_->captured() != nullptr) own_->captured()->end();
  }

 private:
  std::shared_ptr<SharedRegistration> shared_;
  const uint32_t member_;
  std::unique_ptr<GpuMember> own_;
};

}  // namespace dfccl::gpu
