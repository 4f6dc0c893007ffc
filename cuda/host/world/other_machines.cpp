#include "host/world/other_machines.hpp"

#include <algorithm>

#include "processes/peer_watch.hpp"

namespace dfccl::gpu {
namespace {

constexpr size_t kMostPinnedBytes = size_t{512} << 20;

/// Of a rank. What it registers takes some of its arena, too.
size_t pinnedBytes(const GpuWorldOptions& options) {
  return std::min(options.rank.arenaBytes / 2, kMostPinnedBytes) / 128 * 128;
}

}  // namespace

OtherMachines::OtherMachines(const GpuWorldOptions& options, RankQueues& queues, Bell& bell, std::function<void()> news)
    : segment_(options.segment), bell_(bell), memory_(std::make_shared<PinnedArena>(pinnedBytes(options))) {
  Proxy::Hooks hooks;
  hooks.wake = [] {};  // its daemon polls
  hooks.news = std::move(news);
  hooks.alarm = [segment = segment_.get()] { PeerWatch::alarm(*segment); };
  hooks.mayPublish = [this, &queues] { return isAnyBound_.load(order::acquire) != 0 && queues.hasClaimed(); };
  hooks.sleepers = &bell.sleepers();
  proxy_.emplace(options.network, options.segment, options.tiles, options.muteMillis, std::move(hooks));
  bell_.setOther(&notify_);
}

void OtherMachines::stop() {
  bell_.setOther(nullptr);
  proxy_->stop();
}

uint64_t OtherMachines::freeBytes() const {
  return isAnyBound_.load(order::acquire) != 0 ? memory_->freeBytes() : UINT64_MAX;
}

std::unique_ptr<RemoteConnectors> OtherMachines::connectorsOf(const CollectiveSpec& spec) const {
  std::vector<bool> isElsewhere;
  for (const uint32_t rank : spec.ranks) isElsewhere.push_back(!segment_->isLocal(rank));
  return std::make_unique<RemoteConnectors>(memory_, std::move(isElsewhere));
}

Presence OtherMachines::presenceOf(uint32_t rank) const {
  return segment_->isLocal(rank) ? segment_->presenceOf(rank) : proxy_->presenceOf(rank);
}

void OtherMachines::bind(JoinedRegistration& registration, const CollectiveSpec& spec, uint64_t digest,
                         CollectiveRecord& mirrored) {
  GpuMember& own = registration.own();
  isAnyBound_.store(1, order::release);
  proxy_->bind(registration.sharedHandle(), registration.shared().record()->generation, spec, digest, own.connected(),
               own.remote().all(), mirrored);
}

}  // namespace dfccl::gpu
