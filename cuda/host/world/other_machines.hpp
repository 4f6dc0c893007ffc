#pragma once
// What a rank on a GPU has where some of its peers are on other machines: the proxy that stands in for them
// (network/proxy.hpp), and host memory for the connectors between the two. The proxy's thread polls that memory while
// runs are under way, and calls nothing of CUDA's.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host/member/joined_registration.hpp"
#include "host/world/gpu_world.hpp"
#include "network/proxy.hpp"

namespace dfccl::gpu {

class OtherMachines {
 public:
  /// @param news something has come that registrations may wait for. @throws Error dfcclOutOfMemory, dfcclSystemError
  OtherMachines(const GpuWorldOptions& options, RankQueues& queues, Bell& bell, std::function<void()> news);
  ~OtherMachines() { stop(); }
  OtherMachines(const OtherMachines&) = delete;
  OtherMachines& operator=(const OtherMachines&) = delete;

  std::unique_ptr<RemoteConnectors> connectorsOf(const CollectiveSpec& spec) const;
  Presence presenceOf(uint32_t rank) const;
  // As Proxy has them.
  void joinAgreement() { proxy_->joinAgreement(); }
  std::vector<uint32_t> awaitedByAgreement() { return proxy_->awaitedByAgreement(); }
  size_t bytes() const { return proxy_->bookBytes(); }
  /// Of the host's memory for connectors, what is left; UINT64_MAX: nobody has asked for any. Under the world's mutex.
  uint64_t freeBytes() const;
  /// Says goodbye, and waits for a while until everybody has what was sent to him.
  void stop();

  // All of these under the segment's lock.
  /// Which registration of these ranks this one is. @throws Error as Proxy::generationFor()
  uint32_t generationFor(const CollectiveSpec& spec, uint64_t digest) { return proxy_->generationFor(spec, digest); }
  /// This rank has joined it, or has come back to it. @param mirrored what other processes see of it
  void bind(JoinedRegistration& registration, const CollectiveSpec& spec, uint64_t digest, CollectiveRecord& mirrored);
  /// This rank has left it.
  void unbind(JoinedRegistration& registration, uint64_t finishedRuns, Departure departure) {
    proxy_->unbind(registration.shared(), finishedRuns, departure);
  }
  bool holds(JoinedRegistration& registration) const { return proxy_->holds(registration.shared()); }
  void tellPoisoned(JoinedRegistration& registration) { proxy_->tellPoisoned(registration.shared()); }

 private:
  const std::shared_ptr<Segment> segment_;
  Bell& bell_;
  const std::shared_ptr<PinnedArena> memory_;
  const std::function<void()> notify_{[this] { proxy_->notify(); }};
  Atomic<uint32_t> isAnyBound_;  // ever
  std::optional<Proxy> proxy_;   // last: its thread uses the others
};

}  // namespace dfccl::gpu
