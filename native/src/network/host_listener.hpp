#pragma once
#include <vector>

#include "network/rival.hpp"

namespace dfccl::host_rendezvous {

/// Whether a host's name that is a loopback address here is likely to be another one elsewhere, as where /etc/hosts has
/// this machine's own name at 127.0.1.1.
bool meansAnother(const std::string& host, const SocketAddress& here);

/// Rank 0's socket at the job's address.
class HostListener {
 public:
  /// Waits until the address is free. @throws Error dfcclInUse where another process is rank 0 of the job, and once the
  /// time is over; dfcclAborted; dfcclSystemError.
  HostListener(const RendezvousOptions& options, const RendezvousPoint& point, rendezvous::Clock::time_point deadline);

  int descriptor() const { return listener_.get(); }
  /// To be called while ranks are awaited: where the job's address is another machine's, another rank 0 may have it.
  /// @throws Error dfcclInUse
  void look();
  /// Whether who opened with this random number is this process, which looked for another one.
  bool reachesItself(const Digest& random);

 private:
  bool tryToListen();

  const RendezvousOptions& options_;
  const RendezvousPoint& point_;
  Rival rival_;
  std::vector<SocketAddress> addresses_;
  bool mayBeElsewhere_ = false;  // the address stands for something else, here at least
  Descriptor listener_;
};

}  // namespace dfccl::host_rendezvous
