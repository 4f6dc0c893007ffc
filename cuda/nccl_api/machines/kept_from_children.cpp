#include "nccl_api/machines/kept_from_children.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <utility>

#include "base/atomics.hpp"

namespace dfccl::nccl {
namespace {

constexpr int kPlaces = 2048;

/// Each is a descriptor and one more; 0: the place is free. A child finds them as they were when it was forked: what is
/// about to be closed is not there any more, so it closes nothing that is another's by now.
std::array<Atomic<int>, kPlaces> kept;

void closeInChild() {
  for (Atomic<int>& one : kept) {
    const int descriptor = one.load(order::relaxed) - 1;
    if (descriptor >= 0) close(descriptor);
    one.store(0, order::relaxed);
  }
}

int keep(int descriptor) {
  static std::once_flag isAsked;
  std::call_once(isAsked, [] { pthread_atfork(nullptr, nullptr, closeInChild); });
  for (int place = 0; place < kPlaces; ++place) {
    int free = 0;
    if (kept[static_cast<size_t>(place)].compareExchange(free, descriptor + 1, order::acqRel, order::relaxed))
      return place;
  }
  return -1;
}

}  // namespace

KeptFromChildren::KeptFromChildren(Descriptor descriptor)
    : descriptor_(std::move(descriptor)), place_(descriptor_.get() < 0 ? -1 : keep(descriptor_.get())) {}
KeptFromChildren::KeptFromChildren(KeptFromChildren&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), place_(std::exchange(other.place_, -1)) {}
KeptFromChildren& KeptFromChildren::operator=(KeptFromChildren&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(place_, other.place_);
  return *this;
}
KeptFromChildren::~KeptFromChildren() {
  if (place_ >= 0) kept[static_cast<size_t>(place_)].store(0, order::release);
}

}  // namespace dfccl::nccl
