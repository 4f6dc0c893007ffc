#include "network/host_rendezvous.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "base/error.hpp"
#include "network/host_rendezvous_sides.hpp"
#include "network/tcp.hpp"

namespace dfccl {

std::string hostIdentity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  struct stat network {};
  // Sockets without a file are found within one network namespace only.
  const bool isKnown = stat("/proc/self/ns/net", &network) == 0;
  return boot + "/" + std::to_string(isKnown ? network.st_ino : 0) + "/" + std::to_string(geteuid());
}

Digest host_rendezvous::keyOf(const std::string& secret, const Digest& hostRandom, const Digest& guestRandom) {
  return hmac(bytesOf(secret), {bytesOf("dfccl meeting of hosts 1"), hostRandom, guestRandom});
}

std::unique_ptr<HostRendezvous> openHostRendezvous(const RendezvousOptions& options, const RendezvousPoint& point) {
  (void)hmac({}, {});  // says now if it can't be computed
  const std::vector<SocketAddress> addresses = resolve(point.host, point.port);
  const bool isLoopback = !addresses.empty() && std::all_of(addresses.begin(), addresses.end(),
                                                            [](const SocketAddress& a) { return a.isLoopback(); });
  if (point.secret.empty() && !isLoopback) {
    throw Error(dfcclInvalidArgument,
                "The meeting at " + point.host + ":" + std::to_string(point.port) + " could be reached by strangers.",
                "Give all processes of the job the same secret: DFCCL_JOB_SECRET, or DFCCL_JOB_SECRET_FILE for a file "
                "with it (openssl rand -hex 32).",
                {{"field", "DFCCL_JOB_SECRET"}, {"address", point.host}});
  }
  if (point.secret.size() < kFewestSecretBytes && !isLoopback) {
    throw Error(dfcclInvalidArgument,
                "The job's secret of " + std::to_string(point.secret.size()) + " bytes could be guessed by strangers.",
                "Give all processes of the job one of at least " + std::to_string(kFewestSecretBytes) +
                    " random bytes (openssl rand -hex 32).",
                {{"field", "DFCCL_JOB_SECRET"}, {"address", point.host}});
  }
  if (options.rank == 0) return host_rendezvous::openHostSide(options, point);
  return host_rendezvous::openGuestSide(options, point);
}

}  // namespace dfccl
