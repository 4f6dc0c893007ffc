#include "network/join_hosts.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "network/message.hpp"
#include "network/network.hpp"
#include "processes/rendezvous.hpp"

namespace dfccl {
namespace {

using Contributions = std::vector<std::vector<uint8_t>>;

/// Machines, numbered as their first ranks come.
std::vector<uint32_t> numberHosts(const std::vector<std::string>& names) {
  std::vector<uint32_t> hostOf;
  std::vector<std::string> known;
  for (const std::string& name : names) {
    const auto at = std::find(known.begin(), known.end(), name);
    hostOf.push_back(static_cast<uint32_t>(at - known.begin()));
    if (at == known.end()) known.push_back(name);
  }
  return hostOf;
}

}  // namespace

void joinHosts(WorldOptions& options, RendezvousOptions meeting, const RendezvousPoint& point) {
  const auto deadline = rendezvous::deadlineOf(meeting);
  const std::unique_ptr<HostRendezvous> hosts = openHostRendezvous(meeting, point);
  const std::string name = point.hostName.empty() ? hostIdentity() : point.hostName;
  const Contributions names = hosts->exchange(MessageWriter().putText(name).put(randomDigest()).take());

  Digest session{};  // rank 0's random number
  std::vector<std::string> hostNames;
  for (const auto& contribution : names) {
    MessageReader message(contribution);
    hostNames.push_back(message.getText());
    const auto random = message.get<Digest>();
    if (hostNames.size() == 1) session = random;
  }
  auto network = std::make_shared<Network>();
  network->hostOf = numberHosts(hostNames);
  network->key = hmac(bytesOf(point.secret), {bytesOf("dfccl world 1"), session});
  const uint32_t own = network->hostOf[meeting.rank];
  for (uint32_t r = 0; r < network->hostOf.size(); ++r) {
    if (network->hostOf[r] == own) meeting.members.push_back(r);
  }
  const bool isSpread = meeting.members.size() < network->hostOf.size();
  std::vector<uint8_t> address;
  try {
    char place[48];
    std::snprintf(place, sizeof place, "/%u/%02x%02x%02x%02x", own, session[0], session[1], session[2], session[3]);
    meeting.place = place;
    meeting.timeoutMillis = static_cast<uint32_t>(std::max(1, rendezvous::millisUntil(deadline)));
    options.segment = meet(meeting);
    if (isSpread) {
      network->transport = openUcxTransport();
      address = network->transport->address();
    }
  } catch (const Error& e) {
    hosts->fail(e.status(), "Rank " + std::to_string(meeting.rank) + ": " + e.what());
    throw;
  }
  network->addresses = hosts->exchange(address);
  if (!isSpread) return;
  for (const uint32_t local : meeting.members) network->addresses[local].clear();
  options.network = std::move(network);
}

}  // namespace dfccl
