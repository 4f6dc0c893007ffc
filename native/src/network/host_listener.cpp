#include "network/host_listener.hpp"

#include <poll.h>

#include <cerrno>

namespace dfccl::host_rendezvous {

using namespace rendezvous;

bool meansAnother(const std::string& host, const SocketAddress& here) {
  if (!here.isLoopback() || host == "localhost") return false;
  // A numeric address means the same everywhere.
  const bool isNumeric =
      host.find(':') != std::string::npos || host.find_first_not_of("0123456789.") == std::string::npos;
  return !isNumeric;
}

HostListener::HostListener(const RendezvousOptions& options, const RendezvousPoint& point, Clock::time_point deadline)
    : options_(options), point_(point), rival_(options, point) {
  const std::string name = point.host + ":" + std::to_string(point.port);
  while (!tryToListen()) {
    const bool mayChange = addresses_.empty() || errno == EADDRINUSE;
    if (!mayChange) refuseSystem("Rank 0 can't listen on " + name);
    if (millisUntil(deadline) == 0) {
      throwRefused(dfcclInUse, addresses_.empty() ? "Nothing is known by the name " + point.host + "."
                                                  : "Another process listens on " + name + ".");
    }
    checkCancelled(options);
    rival_.look(addresses_);
    poll(nullptr, 0, addresses_.empty() ? kLookMillis : kRetryMillis);
  }
  // Who had the address may have refused both and gone.
  while (rival_.isAsking() && millisUntil(deadline) != 0) {
    rival_.look(addresses_);
    poll(nullptr, 0, kRetryMillis);
  }
}

/// @return false with errno.
bool HostListener::tryToListen() {
  addresses_ = resolve(point_.host, point_.port);
  errno = EADDRNOTAVAIL;
  for (const SocketAddress& address : addresses_) {
    const bool isProven = point_.secret.size() >= kFewestSecretBytes;
    const bool isEverywhere = isProven && meansAnother(point_.host, address);
    listener_ = listenOn(isEverywhere ? address.anyOfFamily(point_.port) : address);
    // A name that stands for something else here, such as a service's: with a secret, any address will do.
    mayBeElsewhere_ = listener_.get() < 0 && errno == EADDRNOTAVAIL && !point_.secret.empty();
    if (mayBeElsewhere_) listener_ = listenOn(address.anyOfFamily(point_.port));
    if (listener_.get() >= 0) return true;
  }
  return false;
}

void HostListener::look() {
  if (mayBeElsewhere_) rival_.look(addresses_);
}

bool HostListener::reachesItself(const Digest& random) {
  if (!rival_.isOwn(random)) return false;
  mayBeElsewhere_ = false;
  return true;
}

}  // namespace dfccl::host_rendezvous
