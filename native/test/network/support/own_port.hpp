#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "os/descriptor.hpp"

namespace dfccl::test {

/// A port of loopback that belongs to the test for as long as this lives: the system gives it to nobody else, neither
/// to listen on nor to connect from. (A port that was free a moment ago may be another's by now.) It isn't listened on,
/// so who listens with SO_REUSEADDR may have it.
class OwnPort {
 public:
  OwnPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int one = 1;
    (void)setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    (void)bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size);
    (void)getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    number_ = ntohs(address.sin_port);
  }
  uint16_t number() const { return number_; }

 private:
  Descriptor socket_;
  uint16_t number_ = 0;
};

}  // namespace dfccl::test
