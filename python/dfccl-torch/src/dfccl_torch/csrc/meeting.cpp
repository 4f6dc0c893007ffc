#include "meeting.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "error.hpp"

namespace dfccl_torch {

OwnPort::OwnPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int one = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  // Not listened on, so whoever listens with SO_REUSEADDR, as the library does, may have it.
  const bool isMine = socket_ >= 0 && setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                      bind(socket_, any, size) == 0 && getsockname(socket_, any, &size) == 0;
  if (!isMine) {
    const std::string why = std::strerror(errno);
    if (socket_ >= 0) close(socket_);
    refuse("There is no port on which ranks of other machines could come: " + why + ".", "");
  }
  number_ = ntohs(address.sin_port);
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
