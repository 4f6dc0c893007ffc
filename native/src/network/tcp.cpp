#include "network/tcp.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace dfccl {
namespace {

Descriptor openSocket(int family) { return Descriptor(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

void setOption(int socket_, int level, int option) {
  const int one = 1;
  (void)setsockopt(socket_, level, option, &one, sizeof one);
}

}  // namespace

bool SocketAddress::isLoopback() const {
  if (family() == AF_INET) return (ntohl(reinterpret_cast<const sockaddr_in&>(storage).sin_addr.s_addr) >> 24) == 127;
  return family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr);
}

SocketAddress SocketAddress::anyOfFamily(uint16_t port) const {
  SocketAddress any = *this;
  if (family() == AF_INET) {
    auto& address = reinterpret_cast<sockaddr_in&>(any.storage);
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    address.sin_port = htons(port);
  } else {
    auto& address = reinterpret_cast<sockaddr_in6&>(any.storage);
    address.sin6_addr = in6addr_any;
    address.sin6_port = htons(port);
  }
  return any;
}

std::vector<SocketAddress> resolve(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  std::vector<SocketAddress> addresses;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return addresses;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    if (a->ai_family != AF_INET && a->ai_family != AF_INET6) continue;
    SocketAddress address;
    std::memcpy(&address.storage, a->ai_addr, a->ai_addrlen);
    address.bytes = a->ai_addrlen;
    addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses;
}

Descriptor listenOn(const SocketAddress& address) {
  Descriptor listener = openSocket(address.family());
  if (listener.get() < 0) return listener;
  // The port of a job that has just ended may be used at once.
  setOption(listener.get(), SOL_SOCKET, SO_REUSEADDR);
  if (bind(listener.get(), address.get(), address.bytes) != 0 || listen(listener.get(), 128) != 0) return Descriptor();
  return listener;
}

Descriptor beginConnecting(const SocketAddress& address) {
  Descriptor connection = openSocket(address.family());
  if (connection.get() < 0) return connection;
  setOption(connection.get(), IPPROTO_TCP, TCP_NODELAY);
  if (connect(connection.get(), address.get(), address.bytes) != 0 && errno != EINPROGRESS) return Descriptor();
  return connection;
}

Descriptor connectTo(const SocketAddress& address, int millis) {
  Descriptor connection = beginConnecting(address);
  if (connection.get() < 0) return connection;
  pollfd polled{connection.get(), POLLOUT, 0};
  int error = 0;
  socklen_t size = sizeof error;
  if (poll(&polled, 1, millis) != 1) return Descriptor();
  if (getsockopt(connection.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return Descriptor();
  return meetsItself(connection.get()) ? Descriptor() : std::move(connection);
}

bool meetsItself(int connection) {
  sockaddr_storage own{}, other{};
  socklen_t ownBytes = sizeof own, otherBytes = sizeof other;
  if (getsockname(connection, reinterpret_cast<sockaddr*>(&own), &ownBytes) != 0 ||
      getpeername(connection, reinterpret_cast<sockaddr*>(&other), &otherBytes) != 0 || ownBytes != otherBytes ||
      std::memcmp(&own, &other, ownBytes) != 0) {
    return false;
  }
  // Closed, it leaves the port free at once, instead of after a minute.
  const linger none{1, 0};
  (void)setsockopt(connection, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  return true;
}

Descriptor acceptFrom(int listener) {
  Descriptor connection(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection.get() >= 0) setOption(connection.get(), IPPROTO_TCP, TCP_NODELAY);
  return connection;
}

}  // namespace dfccl
