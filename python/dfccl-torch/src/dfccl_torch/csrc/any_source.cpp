#include "any_source.hpp"

#include "elements.hpp"
#include "error.hpp"

namespace dfccl_torch {

std::optional<AnySource::Arrival> AnySource::claim(const Key& key, int peer) {
  if (!isUsed_.load(std::memory_order_acquire)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto alike = receives_.find(key);
  if (alike == receives_.end()) return std::nullopt;
  auto found = alike->second.extract(peer);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

std::optional<AnySource::Arrival> AnySource::take(const Key& key) {
  isUsed_.store(true, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  FromPeer& receives = receives_[key];
  begin(key, receives);
  for (auto& [peer, arrival] : receives) {
    std::string error;
    const Submission::End end = arrival.submission.poll(error);
    if (end == Submission::End::pending) continue;
    auto taken = receives.extract(peer);
    taken.mapped().submission.finish(end);
    if (end == Submission::End::aborted) refuse("recv in group " + group_->name() + ": " + error, "");
    return std::move(taken.mapped());
  }
  return std::nullopt;
}

bool AnySource::isWaiting() {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, receives] : receives_) {
    if (!receives.empty()) return true;
  }
  return false;
}

void AnySource::begin(const Key& key, FromPeer& receives) {
  const Elements elements = movedElements(key.type);
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_ || receives.contains(peer)) continue;
    Submission submission(group_, c10::kCPU, "recv");
    const at::Tensor buffer = submission.keep(at::empty({key.count}, at::TensorOptions(key.type)));
    submission.add([&](dfcclRequest_t* request) {
      return dfcclRecv(buffer.data_ptr(), elements.countOf(buffer), elements.type, peer, group_->handle(), key.tag,
                       nullptr, request);
    });
    receives.emplace(peer, Arrival{peer, buffer, std::move(submission)});
  }
}

}  // namespace dfccl_torch
