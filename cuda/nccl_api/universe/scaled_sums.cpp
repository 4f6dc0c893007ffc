#include "nccl_api/universe/scaled_sums.hpp"

#include <algorithm>

namespace dfccl::nccl {

ncclRedOp_t ScaledSums::add(const Scalar& scalar) {
  const std::lock_guard lock(mutex_);
  auto place = std::find(all_.begin(), all_.end(), std::nullopt);
  if (place == all_.end()) place = all_.insert(place, std::nullopt);
  *place = scalar;
  return static_cast<ncclRedOp_t>(kFirst + (place - all_.begin()));
}

bool ScaledSums::remove(ncclRedOp_t op) {
  const std::lock_guard lock(mutex_);
  const auto place = static_cast<size_t>(op) - kFirst;
  if (place >= all_.size() || !all_[place]) return false;
  all_[place].reset();
  return true;
}

std::optional<Scalar> ScaledSums::find(ncclRedOp_t op) const {
  const std::lock_guard lock(mutex_);
  const auto place = static_cast<size_t>(op) - kFirst;
  return place < all_.size() ? all_[place] : std::nullopt;
}

}  // namespace dfccl::nccl
