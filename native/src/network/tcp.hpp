#pragma once
// Sockets of a meeting: addresses by name, and connections that never block.
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "os/descriptor.hpp"

namespace dfccl {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  /// Nobody outside this machine can reach it.
  bool isLoopback() const;
  SocketAddress anyOfFamily(uint16_t port) const;
};

/// What a name stands for now; empty where it stands for nothing. Waits for the system's resolver.
std::vector<SocketAddress> resolve(const std::string& host, uint16_t port);

/// @return a negative descriptor, with errno, where that can't be.
Descriptor listenOn(const SocketAddress& address);
/// @return a connection that may not be there yet, or a negative descriptor.
Descriptor beginConnecting(const SocketAddress& address);
/// @return a connection that is there within `millis`, or a negative descriptor.
Descriptor connectTo(const SocketAddress& address, int millis);
/// Where nobody listens, a connection may be given the very port that it goes to, and then it meets itself: it is to be
/// closed.
bool meetsItself(int connection);
Descriptor acceptFrom(int listener);

}  // namespace dfccl
