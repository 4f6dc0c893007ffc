#include "host/rank/waiting_room.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dfccl::gpu {

/// By the streams that have kernels of several runs under way; of a stream's the one counts that has most. Nothing here
/// takes longer the more of them a stream has outstanding.
class WaitingRoom::Taken {
 public:
  std::mutex mutex;

  uint32_t byOthersThan(uint64_t stream) const {
    uint32_t sum = 0;
    for (const auto& [other, kernels] : streams_) sum += other == stream ? 0 : mostOf(kernels);
    return sum;
  }
  void add(uint64_t stream, uint32_t runs) {
    Kernels& kernels = streams_[stream];
    if (kernels.size() < runs) kernels.resize(runs);
    ++kernels[runs - 1];
  }
  void remove(uint64_t stream, uint32_t runs) {
    const auto found = streams_.find(stream);
    --found->second[runs - 1];
    if (mostOf(found->second) == 0) streams_.erase(found);
  }

 private:
  using Kernels = std::vector<uint32_t>;  // [runs beside their first one]: how many have so many

  static uint32_t mostOf(const Kernels& kernels) {
    size_t more = kernels.size();
    while (more > 1 && kernels[more - 1] == 0) --more;
    return more > 1 ? static_cast<uint32_t>(more) - 1 : 0;
  }

  std::unordered_map<uint64_t, Kernels> streams_;
};

WaitingRoom::WaitingRoom() : taken_(std::make_shared<Taken>()) {}

WaitingRoom::Part::Part(std::shared_ptr<Taken> taken, uint64_t stream, uint32_t runs)
    : runs(runs), taken_(std::move(taken)), stream_(stream) {
  taken_->add(stream, runs);
}
WaitingRoom::Part::~Part() {
  const std::lock_guard lock(taken_->mutex);
  taken_->remove(stream_, runs);
}

std::shared_ptr<const WaitingRoom::Part> WaitingRoom::take(const Wish& wish, uint32_t beside) noexcept {
  if (std::max(wish.fewest, wish.wanted) <= 1) return nullptr;
  const std::lock_guard lock(taken_->mutex);
  try {
    const uint32_t taken = taken_->byOthersThan(wish.stream);
    const uint32_t runs = std::max(wish.fewest, std::min(wish.wanted, 1 + beside - std::min(beside, taken)));
    if (runs <= 1) return nullptr;
    return std::make_shared<const Part>(taken_, wish.stream, runs);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace dfccl::gpu
