#include "nccl_api/machines/reception.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "nccl_api/machines/own_addresses.hpp"
#include "network/tcp.hpp"
#include "os/thread_name.hpp"

namespace dfccl::nccl {
namespace {

constexpr int kLookMillis = 10;        // how often it looks whether a meeting is complete
constexpr size_t kMostStrangers = 64;  // who have yet to say what they come for

/// As some systems have it, where a socket of IPv6 hears nothing of IPv4 unless it is asked to.
bool isForIpv6Alone(int family, int listener) {
  int isAlone = 0;
  socklen_t bytes = sizeof isAlone;
  return family == AF_INET6 && getsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &isAlone, &bytes) == 0 && isAlone != 0;
}

/// On all addresses, at a port that is free.
Descriptor listenAnywhere() {
  for (const int family : {AF_INET6, AF_INET}) {
    SocketAddress address;
    address.storage.ss_family = static_cast<sa_family_t>(family);
    address.bytes = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    Descriptor listener = listenOn(address.anyOfFamily(0));
    if (listener.get() >= 0 && !isForIpv6Alone(family, listener.get())) return listener;
  }
  throw Failure(ncclSystemError,
                std::string("Ranks of other machines can't be listened for: ") + std::strerror(errno) + ".",
                "Allow the process sockets, or leave DFCCL_REAL_NCCL out.");
}

uint16_t portOf(int listener) {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof storage;
  if (getsockname(listener, reinterpret_cast<sockaddr*>(&storage), &bytes) != 0) return 0;
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
    auto made = std::unique_ptr<Reception>(new Reception);
    std::thread([reception = made.get()] { reception->serve(); }).detach();
    kept = made.release();
    owner = getpid();
  }
  return *kept;
}

Reception::Reception() : listener_(listenAnywhere()) {
  reach_.port = portOf(listener_.get());
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
  const auto isDoneWith = [this](Visitor& visitor) {
    try {
      return !visitor.step([this](const Name& name) { return hasMade(name); });
    } catch (const std::exception&) {
      visitor.giveUp();
      return true;  // there is no memory for its answer
    }
  };
  for (;;) {
    try {
      std::vector<pollfd> polled{{listener_.get(), POLLIN, 0}};
      for (const Visitor& visitor : visitors) polled.push_back({visitor.descriptor(), visitor.events(), 0});
      poll(polled.data(), polled.size(), visitors.empty() ? -1 : kLookMillis);
      std::erase_if(visitors, isDoneWith);
      if ((polled[0].revents & POLLIN) != 0) letIn(visitors);
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kLookMillis));
    }
  }
}

/// The next one that wants to come. Of strangers the one that is here for longest has to go: they are not to take all
/// of the process's descriptors.
void Reception::letIn(std::vector<Visitor>& visitors) {
  Descriptor connection = acceptFrom(listener_.get());
  if (connection.get() < 0) {
    // The process has too many files open, and whoever wants to come goes on wanting it.
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookMillis));
    return;
  }
  const auto isStranger = [](const Visitor& visitor) { return !visitor.isAtMeeting(); };
  if (static_cast<size_t>(std::count_if(visitors.begin(), visitors.end(), isStranger)) >= kMostStrangers) {
    visitors.erase(std::find_if(visitors.begin(), visitors.end(), isStranger));
  }
  visitors.emplace_back(std::move(connection), seconds_);
}

}  // namespace dfccl::nccl
