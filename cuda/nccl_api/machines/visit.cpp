#include "nccl_api/machines/visit.hpp"

#include <arpa/inet.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "network/tcp.hpp"

namespace dfccl::nccl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookMillis = 50;  // how often a wait looks whether it was cancelled
constexpr int kConnectMillis = 3000;
constexpr int kTries = 3;

SocketAddress addressOf(const Reach::Address& wide, uint16_t port) {
  SocketAddress address;
  in6_addr six{};
  std::memcpy(&six, wide.data(), sizeof six);
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    auto& four = reinterpret_cast<sockaddr_in&>(address.storage);
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    std::memcpy(&four.sin_addr, &wide[12], sizeof four.sin_addr);
    address.bytes = sizeof four;
  } else {
    auto& whole = reinterpret_cast<sockaddr_in6&>(address.storage);
    whole.sin6_family = AF_INET6;
    whole.sin6_port = htons(port);
    whole.sin6_addr = six;
    address.bytes = sizeof whole;
  }
  return address;
}

std::string textOf(const Reach& reach) {
  std::string list;
  for (uint32_t i = 0; i < reach.count; ++i) {
    const SocketAddress address = addressOf(reach.addresses[i], reach.port);
    char text[INET6_ADDRSTRLEN] = "";
    const void* const bytes = address.family() == AF_INET ? static_cast<const void*>(&reach.addresses[i][12])
                                                          : static_cast<const void*>(&reach.addresses[i]);
    inet_ntop(address.family(), bytes, text, sizeof text);
    list += (i == 0 ? "" : ", ") + std::string(text);
  }
  return list + ", port " + std::to_string(reach.port);
}

/// A connection to the process that made the id, or to another one that is reached at one of its addresses: those of
/// bridges, for containers, are the same on many machines.
class Visit {
 public:
  Visit(const Reach& reach, uint32_t address, const std::function<bool()>& isCancelled)
      : reach_(reach),
        isCancelled_(isCancelled),
        connection_(connectTo(addressOf(reach.addresses[address], reach.port), kConnectMillis)) {}

  bool isThere() const { return connection_.get() >= 0; }

  void send(const void* data, size_t bytes) {
    move(static_cast<uint8_t*>(const_cast<void*>(data)), bytes, POLLOUT,
         [this](uint8_t* at, size_t left) { return ::send(connection_.get(), at, left, MSG_NOSIGNAL); });
  }
  void receive(void* data, size_t bytes) {
    move(static_cast<uint8_t*>(data), bytes, POLLIN,
         [this](uint8_t* at, size_t left) { return recv(connection_.get(), at, left, 0); });
  }

 private:
  void move(uint8_t* at, size_t left, short events, const std::function<ssize_t(uint8_t*, size_t)>& some) {
    while (left != 0) {
      pollfd polled{connection_.get(), events, 0};
      if (poll(&polled, 1, kLookMillis) <= 0) {
        look();
        continue;
      }
      const ssize_t moved = some(at, left);
      if (moved > 0) {
        at += moved;
        left -= static_cast<size_t>(moved);
      } else if (moved == 0 || (errno != EAGAIN && errno != EINTR)) {
        throw Failure(ncclRemoteError, "The process that made the unique id, at " + textOf(reach_) + ", is gone.",
                      "Keep it until all ranks have made the communicator.");
      }
    }
  }

  void look() const {
    if (isCancelled_()) throw abortedWhileMade();
    if (Clock::now() < until_) return;
    throw Failure(ncclTimeout,
                  "The process that made the unique id, at " + textOf(reach_) + ", didn't answer within " +
                      std::to_string(joinSeconds()) + " s.",
                  "See what it does, or allow more time (DFCCL_JOIN_TIMEOUT).");
  }

  const Reach& reach_;
  const std::function<bool()>& isCancelled_;
  // It says itself who is missing, when its own time is over.
  const Clock::time_point until_ = Clock::now() + std::chrono::seconds(joinSeconds()) + std::chrono::seconds(5);
  Descriptor connection_;
};

/// @return nothing: it is not the process that made the id.
std::optional<std::vector<Arrival>> comeTo(Visit& there, const Request& request) {
  there.send(&request, sizeof request);
  Answer answer{};
  there.receive(&answer, sizeof answer);
  if (answer.result == Answer::kNotMadeHere) return std::nullopt;
  if (answer.result != ncclSuccess) {
    std::string sentence(std::min<uint32_t>(answer.bytes, sizeof ToldFailure::sentence), ' ');
    there.receive(sentence.data(), sentence.size());
    throw Failure(static_cast<ncclResult_t>(answer.result), sentence);
  }
  std::vector<Arrival> all(static_cast<size_t>(request.ranks));
  if (answer.bytes != all.size() * sizeof(Arrival)) {
    throw Failure(ncclRemoteError, "What the process that made the unique id answers makes no sense.",
                  "Let all ranks have the same version of this library.");
  }
  there.receive(all.data(), answer.bytes);
  return all;
}

}  // namespace

std::vector<Arrival> visit(const Reach& reach, const Request& request, const std::function<bool()>& isCancelled) {
  bool isAnyThere = false;
  for (int attempt = 0; attempt < kTries && !isAnyThere; ++attempt) {
    for (uint32_t address = 0; address < reach.count; ++address) {
      if (isCancelled()) throw abortedWhileMade();
      Visit there(reach, address, isCancelled);
      if (!there.isThere()) continue;
      isAnyThere = true;
      if (std::optional<std::vector<Arrival>> all = comeTo(there, request)) return *std::move(all);
    }
  }
  if (isAnyThere) {
    throw Failure(ncclInvalidArgument, "The process at " + textOf(reach) + " has made no such unique id.",
                  "Pass the id of ncclGetUniqueId as it is; NCCL_SOCKET_IFNAME chooses the interfaces of its process.");
  }
  throw Failure(ncclRemoteError, "The process that made the unique id can't be reached at " + textOf(reach) + ".",
                "See that it is there still, and that machines let each other connect; NCCL_SOCKET_IFNAME chooses "
                "its interfaces.");
}

}  // namespace dfccl::nccl
