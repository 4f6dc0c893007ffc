// How a collective of a world on GPUs is given up on all ranks, and when its buffers are free of them.
#include <algorithm>

#include "host/world/gpu_world.hpp"

namespace dfccl::gpu {

void GpuWorld::abortCollective(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  poison(rank, registered(rank, index));
}

void GpuWorld::letEnd(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  registered(rank, index).registration->letKernelsEnd();
}

void GpuWorld::poison(uint32_t rank, Registered& entry) {
  auto& registration = static_cast<GpuRegistration&>(*entry.registration);
  if (!registration.poison(rank)) return;
  // All of them first: to tell a daemon may take its launch, which may have to wait for such a kernel.
  registration.letKernelsEnd();
  const std::vector<uint32_t>& members = registration.spec().ranks;
  for (uint32_t m = 0; m < members.size(); ++m) {
    if (registration.isMember(m)) askToDrop(members[m], registration.indexOf(m));
  }
}

void GpuWorld::giveUpRunsOf(uint32_t rank) {
  const std::lock_guard lock(mutex_);
  // It may not have registered what others wait for.
  const auto ofAllItsOwn = [&](const auto& act) {
    for (auto& registered : table_) {
      for (auto& [index, entry] : registered) {
        if (std::ranges::find(entry.spec.ranks, rank) != entry.spec.ranks.end()) act(entry);
      }
    }
  };
  ofAllItsOwn([](Registered& entry) { entry.registration->letKernelsEnd(); });
  ofAllItsOwn([&](Registered& entry) { GpuWorld::poison(rank, entry); });
}

void GpuWorld::askToDrop(uint32_t rank, uint32_t index) {
  Registered& entry = table_[rank].at(index);
  entry.isDropped = true;
  GpuMember& own = entry.registration->memberHere(entry.member);
  if (own.captured() == nullptr) return ranks_[rank]->askToDrop(index);
  own.endCaptured();
  bell_.wake();  // the daemon tells the device
}

bool GpuWorld::isAborted(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  return registered(rank, index).registration->isPoisoned();
}

bool GpuWorld::isQuarantineOver(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  DeviceRegistration& registration = *registered(rank, index).registration;
  return registration.isPoisoned() && registration.isQuarantineOver();
}

}  // namespace dfccl::gpu
