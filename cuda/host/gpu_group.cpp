#include "host/gpu_group.hpp"

namespace dfccl::gpu {

GpuGroup::GpuGroup(const CollectiveSpec& spec, uint64_t programDigest, std::vector<DeviceArena*> arenas)
    : spec_(spec), programDigest_(programDigest), arenas_(std::move(arenas)), members_(spec.ranks.size()) {
  spec_.program.clear();
}

void GpuGroup::join(uint32_t member, std::unique_ptr<GpuMember> own) {
  members_[member].own = std::move(own);
  if (++joined_ != members_.size()) return;
  std::vector<MemberView> views;
  for (uint32_t m = 0; m < members_.size(); ++m)
    views.push_back({members_[m].own->facts(), arenas_[m]->base(), nullptr});
  for (const Member& each : members_) each.own->complete(views);
}

void GpuGroup::leave(uint32_t member) {
  members_[member].hasLeft = true;
  ++left_;
}

bool GpuGroup::poison(uint32_t rank) {
  if (isPoisoned()) return false;
  poisonedBy_ = rank;
  for (uint32_t m = 0; m < members_.size(); ++m) members_[m].isAsked = isMember(m);
  return true;
}

bool GpuGroup::isQuarantineOver() {
  for (const Member& member : members_) {
    // One that isn't asked never registered, or had left: it touches nothing.
    if (member.isAsked && !member.own->hasDropped()) return false;
  }
  return true;
}

std::vector<MemberProgress> GpuGroup::progress() {
  std::vector<MemberProgress> progress;
  for (uint32_t m = 0; m < members_.size(); ++m) {
    const uint32_t rank = spec_.ranks[m];
    const GpuMember* own = members_[m].own.get();
    progress.push_back(isMember(m) ? MemberProgress{rank, true, own->submittedRuns(), own->finishedRuns()}
                                   : MemberProgress{rank, false, 0, 0});
  }
  return progress;
}

}  // namespace dfccl::gpu
