#pragma once
// Where the processes of a test meet as if they were on several machines.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdio>
#include <string>

#include "error.hpp"
#include "network/host_meeting.hpp"
#include "network/transport.hpp"
#include "processes/descriptor.hpp"

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

/// A port of loopback that nobody listens on.
inline uint16_t freePort() {
  const Descriptor probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  (void)bind(probe.get(), reinterpret_cast<sockaddr*>(&address), size);
  (void)getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

/// @param host which of the make-believe machines.
inline MeetingPoint pointOn(uint16_t port, uint32_t host) {
  return {"127.0.0.1", port, kSecret, "machine " + std::to_string(host)};
}

}  // namespace dfccl::test
