#include "nccl_api/machines/own_addresses.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace dfccl::nccl {
namespace {

Reach::Address mapped(const in_addr& address) {
  Reach::Address wide{};
  wide[10] = wide[11] = 0xff;
  std::memcpy(&wide[12], &address, sizeof address);
  return wide;
}

}  // namespace

bool isAllowed(std::string_view interface, std::string_view said) {
  const bool isExcluding = said.starts_with('^');
  if (isExcluding) said.remove_prefix(1);
  const bool isWhole = said.starts_with('=');
  if (isWhole) said.remove_prefix(1);
  if (said.empty()) return interface != "lo" && !interface.starts_with("docker");
  while (!said.empty()) {
    const std::string_view one = said.substr(0, said.find(','));
    said.remove_prefix(std::min(said.size(), one.size() + 1));
    if (!one.empty() && (isWhole ? interface == one : interface.starts_with(one))) return !isExcluding;
  }
  return isExcluding;
}

std::vector<Reach::Address> ownAddresses() {
  const char* const said = std::getenv("NCCL_SOCKET_IFNAME");
  std::vector<Reach::Address> narrow, wide;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) == 0) {
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
      if (!isAllowed(one->ifa_name, said == nullptr ? "" : said)) continue;
      if (one->ifa_addr->sa_family == AF_INET) {
        narrow.push_back(mapped(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr));
      } else if (one->ifa_addr->sa_family == AF_INET6) {
        const in6_addr& address = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
        if (IN6_IS_ADDR_LINKLOCAL(&address)) continue;  // has no meaning without the other's interface
        std::memcpy(wide.emplace_back().data(), &address, sizeof address);
      }
    }
    freeifaddrs(all);
  }
  narrow.insert(narrow.end(), wide.begin(), wide.end());
  if (narrow.empty()) narrow.push_back(mapped({htonl(INADDR_LOOPBACK)}));
  return narrow;
}

}  // namespace dfccl::nccl
