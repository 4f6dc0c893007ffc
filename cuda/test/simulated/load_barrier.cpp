#include "simulated/load_barrier.hpp"

#include <algorithm>
#include <mutex>

namespace dfccl::gpu::simulated {

bool GivenBefore::isDone() const {
  if (isDone_) return true;
  if (!std::all_of(places_.begin(), places_.end(), [](const StreamPosition& place) { return place.isReached(); }))
    return false;
  isDone_ = true;
  return true;
}

void GivenBefore::await() const {
  for (const StreamPosition& place : places_) place.await();
  isDone_ = true;
}

void LoadBarrier::raise(const std::function<std::vector<StreamPosition>()>& given) {
  const std::unique_lock lock(mutex_);
  last_ = std::make_shared<GivenBefore>(given());
}

}  // namespace dfccl::gpu::simulated
