#pragma once
// Finds out whether another process is rank 0 of the same job: it would listen at the job's address, and then two
// processes would wait for ranks until their time is over. The other one hears this one's hello as rank 0, and refuses
// both. One of another job, or whatever else has the address, says nothing of this.
#include <chrono>
#include <optional>
#include <vector>

#include "network/hello.hpp"
#include "network/tcp.hpp"

namespace dfccl::host_rendezvous {

class Rival {
 public:
  Rival(const RendezvousOptions& options, const RendezvousPoint& point) : options_(options), point_(point) {}

  /// Asks who listens at these addresses, now and then one of them, and hears the answer. Never waits.
  /// @throws Error dfcclInUse as the other rank 0 says.
  void look(const std::vector<SocketAddress>& addresses);
  /// Whether an answer may still come.
  bool isAsking() const { return stream_.has_value(); }
  /// Whether who opened with this random number is this process itself: the address leads back to it.
  bool isOwn(const Digest& random) const { return random == random_; }

 private:
  static constexpr std::chrono::milliseconds kAskAgain{250};

  void ask(const SocketAddress& address);
  /// @return whether there is more to hear.
  bool hear();

  const RendezvousOptions& options_;
  const RendezvousPoint& point_;
  const Digest random_ = randomDigest();
  std::optional<ByteStream> stream_;
  std::optional<FrameChannel> channel_;
  rendezvous::Clock::time_point asked_;
  uint32_t attempts_ = 0;
};

}  // namespace dfccl::host_rendezvous
