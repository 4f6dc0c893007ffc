#pragma once
// Meetings of hosts as a test's processes go to them.
#include <sched.h>

#include <chrono>
#include <string>

#include "base/error.hpp"
#include "network/host_rendezvous.hpp"
#include "network/message.hpp"
#include "network/support/rendezvous_points.hpp"
#include "network/tcp.hpp"

namespace dfccl::test {

/// Two rounds, in which everybody says who he is. @return whether all heard all.
inline bool meetsAll(const RendezvousOptions& options, const RendezvousPoint& point) {
  const auto meeting = openHostRendezvous(options, point);
  bool isRight = true;
  for (uint32_t round = 0; round < 2; ++round) {
    const auto all = meeting->exchange(MessageWriter().put(options.rank).put(round).take());
    for (uint32_t r = 0; r < all.size(); ++r) isRight &= all[r] == MessageWriter().put(r).put(round).take();
    isRight &= all.size() == options.shape.ranks;
  }
  return isRight;
}

/// The message with which the meeting is refused; "" if it isn't.
inline std::string refusalOf(const RendezvousOptions& options, const RendezvousPoint& point) {
  try {
    return meetsAll(options, point) ? "" : "wrong contributions";
  } catch (const Error& e) {
    return e.message();
  }
}

/// A connection to who listens at the port, once somebody does.
inline Descriptor reach(const OwnPort& port) {
  const SocketAddress address = resolve("127.0.0.1", port.number()).front();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  // Nobody tells that a port is listened at but the connection itself.
  while (std::chrono::steady_clock::now() < deadline) {
    // Where the system drops one because too many wait, it tries again only after a second.
    Descriptor connection = connectTo(address, 20);
    if (connection.get() >= 0) return connection;
    sched_yield();
  }
  return {};
}

}  // namespace dfccl::test
