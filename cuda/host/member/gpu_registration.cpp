#include "host/member/gpu_registration.hpp"

namespace dfccl::gpu {

GpuRegistration::GpuRegistration(const CollectiveSpec& spec, uint64_t programDigest, std::vector<DeviceArena*> arenas)
    : spec_(spec), programDigest_(programDigest), arenas_(std::move(arenas)), members_(spec.ranks.size()) {
  spec_.program.clear();
}

void GpuRegistration::join(uint32_t member, std::unique_ptr<GpuMember> own) {
  members_[member].own = std::move(own);
  if (++joined_ != members_.size()) return;
  std::vector<MemberView> views;
  for (uint32_t m = 0; m < members_.size(); ++m)
    views.push_back({members_[m].own->facts(), arenas_[m]->base(), nullptr, nullptr});
  for (const Member& each : members_) each.own->complete(views);
}

void GpuRegistration::leave(uint32_t member, Departure departure, uint64_t finishedRuns) {
  members_[member].own->leave(finishedRuns);
  members_[member].hasLeft = true;
  members_[member].isAway = departure == Departure::forNow;
}

void GpuRegistration::comeBack(uint32_t member, const CollectiveRecord& begun, const MemberHome& home) {
  members_[member].own->comeBack(begun, home);
  members_[member].hasLeft = members_[member].isAway = false;
}

bool GpuRegistration::isAbandoned() const {
  std::vector<uint64_t> runs;
  bool isAnyAway = false;
  for (uint32_t m = 0; m < members_.size(); ++m) {
    if (isMember(m)) return false;
    isAnyAway |= members_[m].isAway;
    runs.push_back(hasJoined(m) ? members_[m].own->runsAtLeaving() : 0);
  }
  return !isAnyAway || isPoisoned() || areEven(runs);
}

bool GpuRegistration::poison(uint32_t rank) {
  if (isPoisoned()) return false;
  poisonedBy_ = rank;
  for (uint32_t m = 0; m < members_.size(); ++m) members_[m].isAsked = isMember(m);
  return true;
}

void GpuRegistration::letKernelsEnd() {
  for (uint32_t m = 0; m < members_.size(); ++m) {
    if (isMember(m) && members_[m].own->captured() != nullptr) members_[m].own->captured()->end();
  }
}

bool GpuRegistration::isQuarantineOver() {
  bool isOver = true;
  for (const Member& member : members_) {
    // One that isn't asked never registered, or had left: it touches nothing. All are looked at, as some take two
    // looks.
    if (member.isAsked && !member.own->hasDropped()) isOver = false;
  }
  return isOver;
}

std::vector<MemberProgress> GpuRegistration::progress(
    const std::function<uint64_t(uint32_t rank, uint32_t index)>& issuedOf) {
  std::vector<MemberProgress> progress;
  for (uint32_t m = 0; m < members_.size(); ++m) {
    const uint32_t rank = spec_.ranks[m];
    const GpuMember* own = members_[m].own.get();
    if (isMember(m)) {
      progress.push_back({rank, true, own->submittedRuns(), own->finishedRuns(), issuedOf(rank, own->index())});
    } else {
      const uint64_t runs = own == nullptr ? 0 : own->runsAtLeaving();
      progress.push_back({rank, members_[m].isAway, runs, runs});
    }
  }
  return progress;
}

}  // namespace dfccl::gpu
