#pragma once
// Where the processes of a test meet as if they were on several machines.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdio>
#include <string>

#include "base/error.hpp"
#include "network/host_rendezvous.hpp"
#include "network/transport.hpp"
#include "os/descriptor.hpp"

namespace dfccl::test {

inline constexpr char kSecret[] = "of this test alone";

/// What a program of tests ends with where the system doesn't let it do what it tests: ctest calls it skipped.
inline constexpr int kSkipped = 77;

/// Whether something here carries data between machines; else says what is missing.
inline bool hasTransport() {
  try {
    return !describeTransport().empty();
  } catch (const Error& e) {
    std::printf("skipped: %s\n", e.what());
    return false;
  }
}

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

/// @param host which of the make-believe machines.
inline RendezvousPoint pointOn(const OwnPort& port, uint32_t host) {
  return {"127.0.0.1", port.number(), kSecret, "machine " + std::to_string(host)};
}

}  // namespace dfccl::test
