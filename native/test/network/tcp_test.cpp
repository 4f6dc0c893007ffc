#include "network/tcp.hpp"

#include <doctest/doctest.h>

#include "network/support/namespaces.hpp"
#include "processes/support/processes.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint16_t kPort = 40'000;

/// A machine that has one port to connect from, so that whoever connects to it is given the same.
bool hasOnePort(const NetworkNamespace& machine) {
  return machine.isThere() && machine.run("ip link set lo up") &&
         machine.run("sh -c 'echo 40000 40000 > /proc/sys/net/ipv4/ip_local_port_range'");
}

bool canListen(const SocketAddress& address) { return listenOn(address).get() >= 0; }

/// What a rank finds that is there before rank 0. @return whether it is nobody, and rank 0 can listen afterwards.
bool findsNobody(const SocketAddress& address) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (connectTo(address, 1000).get() >= 0) return false;
  }
  return canListen(address);
}

bool findsItselfByPlainConnect(const SocketAddress& address) {
  {
    const Descriptor plain(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(plain.get(), address.get(), address.bytes) != 0) return false;
  }
  return !canListen(address);
}

bool holdsThere(bool (*what)(const SocketAddress&)) {
  const NetworkNamespace machine;
  REQUIRE(hasOnePort(machine));
  Processes process(
      1, [&](uint32_t) { return machine.enter() && what(resolve("127.0.0.1", kPort).front()) ? kFine : kWrong; });
  return process.join(0) == kFine;
}

}  // namespace

TEST_CASE("who connects before anybody listens doesn't meet himself and leaves the port free; control: else he does") {
  CHECK(holdsThere(findsNobody));
  CHECK(holdsThere(findsItselfByPlainConnect));
}

int main(int argc, char** argv) {
  if (!hasOnePort(NetworkNamespace())) {
    std::printf(
        "skipped: this system lets the test make no network namespaces (it needs root, iproute2 and nsenter)\n");
    return kSkipped;
  }
  return doctest::Context(argc, argv).run();
}
