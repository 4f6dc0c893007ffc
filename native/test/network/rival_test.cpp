// Two processes that both are rank 0 of a job on several machines.
#include "network/rival.hpp"

#include <doctest/doctest.h>
#include <poll.h>

#include <memory>
#include <vector>

#include "network/support/host_rendezvous.hpp"
#include "network/support/namespaces.hpp"
#include "processes/support/contains.hpp"
#include "processes/support/processes.hpp"
#include "processes/support/rendezvous_options.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

/// What a service's address does: whatever comes to it goes on to `address`, and back. Never ends.
[[noreturn]] void relay(int listener, const SocketAddress& address) {
  std::vector<std::unique_ptr<ByteStream>> ends;  // in pairs
  const auto pass = [](ByteStream& from, ByteStream& to) {
    const bool isThere = from.fill(64 << 10);
    to.put(from.waiting());
    from.drop(from.waiting().size());
    return to.flush() && isThere;
  };
  for (;;) {
    std::vector<pollfd> polled{{listener, POLLIN, 0}};
    for (const auto& end : ends) polled.push_back({end->descriptor(), POLLIN, 0});
    poll(polled.data(), polled.size(), 10);  // what could not be sent at once goes then
    for (size_t i = 0; i < ends.size();) {
      const bool isOver = !pass(*ends[i], *ends[i + 1]) || !pass(*ends[i + 1], *ends[i]);
      if (isOver)
        ends.erase(ends.begin() + static_cast<std::ptrdiff_t>(i), ends.begin() + static_cast<std::ptrdiff_t>(i) + 2);
      i += isOver ? 0 : 2;
    }
    Descriptor near = acceptFrom(listener);
    if (near.get() < 0) continue;
    Descriptor far = connectTo(address, 1000);
    if (far.get() < 0) continue;
    ends.push_back(std::make_unique<ByteStream>(std::move(near)));
    ends.push_back(std::make_unique<ByteStream>(std::move(far)));
  }
}

}  // namespace

TEST_CASE("two processes that claim rank 0 are both refused, and so is who has come, whatever their options") {
  for (const uint32_t collectives : {64u, 32u}) {
    const std::string job = newJob();
    const OwnPort port;
    const RendezvousPoint point = pointOn(port, 0);
    Processes processes(2, [&](uint32_t process) {
      // By the limit nobody is told of another rank 0, but that it listens, or of ranks that are missing.
      RendezvousOptions options = meetingOf(job, 0, 3);
      if (process == 1) options.shape.collectives = collectives;
      return contains(refusalOf(options, point), "Two processes claim rank 0") ? kFine : kWrong;
    });
    CHECK(processes.join(0) == kFine);
    CHECK(processes.join(1) == kFine);
  }
}

TEST_CASE("rank 0 of another job that has the same port refuses nobody") {
  const std::string job = newJob();
  const OwnPort port;
  const RendezvousPoint point = pointOn(port, 0);
  Processes host(1, [&](uint32_t) { return meetsAll(meetingOf(job, 0, 2), point) ? kFine : kWrong; });
  // What that rank 0 does while it waits for the port.
  const RendezvousOptions other = meetingOf(newJob(), 0, 2);
  ByteStream stream(reach(port));
  std::optional<FrameChannel> channel;
  const auto awaitMore = [&] {
    pollfd polled{stream.descriptor(), POLLIN, 0};
    return poll(&polled, 1, 60'000) == 1;
  };
  do {
    REQUIRE(awaitMore());
    REQUIRE(stream.fill(sizeof(host_rendezvous::Opening)));
  } while (host_rendezvous::sayHello(stream, channel, other, kSecret, randomDigest()) ==
           host_rendezvous::Greeting::waiting);
  REQUIRE(stream.flush());
  // Its answer is that it hangs up.
  while (awaitMore() && stream.fill(4096)) {
  }
  CHECK(stream.waiting().empty());
  Processes guest(1, [&](uint32_t) { return meetsAll(meetingOf(job, 1, 2), point) ? kFine : kWrong; });
  CHECK(guest.join(0) == kFine);
  CHECK(host.join(0) == kFine);
}

TEST_CASE("two processes that claim rank 0 on two machines are both refused, though each of them can listen") {
  const Machines machines(2);
  if (!machines.areThere()) {
    MESSAGE("not tried: this system lets the test make no network namespaces (it needs root, iproute2 and nsenter)");
    return;
  }
  const std::string job = newJob();
  const RendezvousPoint point{Machines::addressOf(0), 29'500, "some random bytes of this test", {}};
  Processes processes(2, [&](uint32_t machine) {
    if (!machines.enter(machine)) return kThrew;
    return contains(refusalOf(meetingOf(job, 0, 3), point), "Two processes claim rank 0") ? kFine : kWrong;
  });
  CHECK(processes.join(0) == kFine);
  CHECK(processes.join(1) == kFine);
}

TEST_CASE("a rank 0 whose address leads back to it by another way takes itself for no other") {
  // The address is the other machine's, which sends on what comes to it.
  const Machines machines(2);
  if (!machines.areThere()) {
    MESSAGE("not tried: this system lets the test make no network namespaces (it needs root, iproute2 and nsenter)");
    return;
  }
  const std::string job = newJob();
  const RendezvousPoint point{Machines::addressOf(1), 29'500, "some random bytes of this test", {}};
  const Processes service(1, [&](uint32_t) {
    if (!machines.enter(1)) return kThrew;
    const Descriptor listener = listenOn(resolve(point.host, point.port).front());
    relay(listener.get(), resolve(Machines::addressOf(0), point.port).front());
  });
  Processes processes(2, [&](uint32_t rank) {
    if (!machines.enter(rank)) return kThrew;
    return meetsAll(meetingOf(job, rank, 2), point) ? kFine : kWrong;
  });
  CHECK(processes.join(0) == kFine);
  CHECK(processes.join(1) == kFine);
}
