#include "network/host_listener.hpp"

#include <doctest/doctest.h>

using namespace dfccl;

TEST_CASE("a machine's own name that is a loopback address at home is listened for everywhere, a loopback's isn't") {
  using host_rendezvous::meansAnother;
  const SocketAddress loopback = resolve("127.0.1.1", 1).front(), other = resolve("192.0.2.1", 1).front();
  CHECK(meansAnother("node-0", loopback));
  CHECK_FALSE(meansAnother("node-0", other));
  CHECK_FALSE(meansAnother("localhost", loopback));
  CHECK_FALSE(meansAnother("127.0.1.1", loopback));
  CHECK_FALSE(meansAnother("::1", resolve("::1", 1).front()));
}
