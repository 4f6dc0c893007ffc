#include "meeting.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "error.hpp"

namespace dfccl_torch {

namespace {

/// @return whether it is bound; with errno.
bool bindAnywhere(int socket, int family) {
  const int one = 1;
  sockaddr_storage address{};
  address.ss_family = static_cast<sa_family_t>(family);  // all zeros: any address, any port
  const socklen_t size = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  // Not listened on, so whoever listens with SO_REUSEADDR, as the library does, may have it.
  return socket >= 0 && setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
         bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0;
}

int portOf(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  // At the same place in both families.
  return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

}  // namespace

OwnPort::OwnPort() {
  for (const int family : {AF_INET6, AF_INET}) {
    socket_ = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bindAnywhere(socket_, family)) {
      number_ = portOf(socket_);
      return;
    }
    if (socket_ >= 0) close(std::exchange(socket_, -1));
  }
  refuse("There is no port on which ranks of other machines could come: " + std::string(std::strerror(errno)) + ".",
         "");
}

OwnPort::~OwnPort() { close(socket_); }

std::string addressOf(const Meeting& meeting, const OwnPort* port, c10d::Store& store, const std::string& job,
                      std::chrono::milliseconds timeout) {
  const std::string key = "dfccl/" + job + "/port";
  if (port != nullptr) store.set(key, std::to_string(port->number()));
  store.wait({key}, timeout);
  const std::vector<uint8_t> told = store.get(key);
  const bool isNumeric6 = meeting.host.find(':') != std::string::npos;
  return (isNumeric6 ? "[" + meeting.host + "]" : meeting.host) + ":" + std::string(told.begin(), told.end());
}

}  // namespace dfccl_torch
