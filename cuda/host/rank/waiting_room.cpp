#include "host/rank/waiting_room.hpp"

#include <algorithm>
#include <map>
#include <new>

namespace dfccl::gpu {

std::shared_ptr<const WaitingRoom::Part> WaitingRoom::take(const Wish& wish, uint32_t beside) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    const uint32_t taken = takenByOthers(wish.stream);
    const uint32_t runs = std::max(wish.fewest, std::min(wish.wanted, 1 + beside - std::min(beside, taken)));
    if (runs <= 1) return nullptr;
    auto part = std::make_shared<const Part>(Part{wish.stream, runs});
    taken_.push_back(part);
    return part;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// Of a stream's kernels, the one that has most.
uint32_t WaitingRoom::takenByOthers(uint64_t stream) {
  std::map<uint64_t, uint32_t> mostOf;
  std::erase_if(taken_, [&](const std::weak_ptr<const Part>& taken) {
    const auto part = taken.lock();
    if (part && part->stream != stream) mostOf[part->stream] = std::max(mostOf[part->stream], part->runs - 1);
    return part == nullptr;
  });
  uint32_t sum = 0;
  for (const auto& [other, more] : mostOf) sum += more;
  return sum;
}

}  // namespace dfccl::gpu
