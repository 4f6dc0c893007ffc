#include "nccl_api/machines/reception.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "nccl_api/machines/own_addresses.hpp"
#include "nccl_api/machines/visitor.hpp"
#include "network/tcp.hpp"
#include "os/thread_name.hpp"

namespace dfccl::nccl {
namespace {

constexpr int kLookMillis = 10;  // how often it looks whether a meeting is complete
constexpr size_t kMostVisitors = 4096;

/// On all addresses, at a port that is free.
Descriptor listenAnywhere() {
  for (const int family : {AF_INET6, AF_INET}) {
    SocketAddress address;
    address.storage.ss_family = static_cast<sa_family_t>(family);
    address.bytes = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    Descriptor listener = listenOn(address.anyOfFamily(0));
    if (listener.get() >= 0) return listener;
  }
  throw Failure(ncclSystemError,
                std::string("Ranks of other machines can't be listened for: ") + std::strerror(errno) + ".",
                "Allow the process sockets, or leave DFCCL_REAL_NCCL out.");
}

uint16_t portOf(const Descriptor& listener) {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof storage;
  if (getsockname(listener.get(), reinterpret_cast<sockaddr*>(&storage), &bytes) != 0) return 0;
  return ntohs(storage.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(storage).sin_port
                                            : reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
}

}  // namespace

Reception& Reception::here() {
  static std::mutex mutex;
  static Reception* kept = nullptr;
  static pid_t owner = 0;
  const std::lock_guard lock(mutex);
  // A child that was forked has none of its parent's threads.
  if (kept == nullptr || owner != getpid()) {
    kept = new Reception;
    owner = getpid();
    std::thread([reception = kept] { reception->serve(); }).detach();
  }
  return *kept;
}

Reception::Reception() : listener_(listenAnywhere()) {
  reach_.port = portOf(listener_);
  const std::vector<Reach::Address> addresses = ownAddresses();
  reach_.count = static_cast<uint16_t>(std::min<size_t>(addresses.size(), Reach::kMost));
  std::copy_n(addresses.begin(), reach_.count, reach_.addresses);
}

ncclUniqueId Reception::makeId() {
  const ncclUniqueId id = makeUniqueId(reach_);
  const Name name = nameOf(id);
  const std::lock_guard lock(mutex_);
  made_.emplace(name.high, name.low);
  return id;
}

bool Reception::hasMade(const Name& name) {
  const std::lock_guard lock(mutex_);
  return made_.contains({name.high, name.low});
}

void Reception::serve() {
  nameThread("dfccl-reception");
  std::vector<Visitor> visitors;
  for (;;) {
    std::vector<pollfd> polled{{listener_.get(), POLLIN, 0}};
    for (const Visitor& visitor : visitors) polled.push_back({visitor.descriptor(), visitor.events(), 0});
    poll(polled.data(), polled.size(), visitors.empty() ? -1 : kLookMillis);
    std::erase_if(visitors, [this](Visitor& visitor) {
      return !visitor.step([this](const Name& name) { return hasMade(name); });
    });
    if ((polled[0].revents & POLLIN) == 0) continue;
    Descriptor connection = acceptFrom(listener_.get());
    if (connection.get() >= 0) {
      if (visitors.size() < kMostVisitors) visitors.emplace_back(std::move(connection));
    } else {
      // The process has too many files open, and whoever wants to come goes on wanting it.
      std::this_thread::sleep_for(std::chrono::milliseconds(kLookMillis));
    }
  }
}

}  // namespace dfccl::nccl
