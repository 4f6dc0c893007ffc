#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "nccl_api/calls/communicator.hpp"
#include "nccl_api/calls/environment.hpp"
#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {
namespace {

// More than a config of any version: whoever says more has not set it.
constexpr size_t kMostConfigBytes = 4096;
// A daemon has a block for taking requests in, and at least one that moves data.
constexpr uint32_t kMostMoving = 16;

/// @return 0: as many as it likes
uint32_t ctasOf(long mostCtas) { return static_cast<uint32_t>(std::clamp(mostCtas, 0L, 1L << 20)); }
uint32_t blocksOf(long mostCtas) {
  return mostCtas < 1 ? 0 : 1 + static_cast<uint32_t>(std::min<long>(mostCtas, kMostMoving));
}

/// NCCL_COMM_BLOCKING, which counts more than a config. @return nothing: it says neither.
std::optional<bool> blockingOfEnvironment() {
  const char* const said = std::getenv("NCCL_COMM_BLOCKING");
  if (said == nullptr || (std::strcmp(said, "0") != 0 && std::strcmp(said, "1") != 0)) return std::nullopt;
  return *said == '1';
}

}  // namespace

Config Config::read(const ncclConfig_t* from) {
  Config config;
  const char* const most = std::getenv("NCCL_MAX_CTAS");
  const long mostCtas = most == nullptr ? 0 : std::strtol(most, nullptr, 10);
  config.mostBlocks = blocksOf(mostCtas);
  config.mostBlocksInStreams = ctasOf(mostCtas);
  checkEnvironment();
  config.mostBytesInStreams = numberOfEnvironment("DFCCL_BYTES_IN_STREAMS", "bytes").value_or(UINT64_MAX);
  const std::optional<bool> isBlocking = blockingOfEnvironment();
  config.isBlocking = isBlocking.value_or(true);
  if (from == nullptr) return config;
  if (from->size < offsetof(ncclConfig_t, blocking) || from->size > kMostConfigBytes || from->magic != kNcclMagic) {
    refuseArgument("The config was not set up: its size is " + std::to_string(from->size) + ".",
                   "Begin with NCCL_CONFIG_INITIALIZER.");
  }
  ncclConfig_t c;
  std::memset(&c, 0, sizeof c);
  c.blocking = c.minCTAs = c.maxCTAs = kNcclUnset;
  std::memcpy(&c, from, std::min(from->size, sizeof c));
  if (c.blocking != kNcclUnset && c.blocking != 0 && c.blocking != 1) {
    refuseArgument("The config's blocking is " + std::to_string(c.blocking) + ".", "Allowed: 0, 1.");
  }
  if (c.minCTAs != kNcclUnset && c.maxCTAs != kNcclUnset && c.minCTAs > c.maxCTAs) {
    refuseArgument(
        "The config's minCTAs is " + std::to_string(c.minCTAs) + ", and its maxCTAs " + std::to_string(c.maxCTAs) + ".",
        "Allowed: a minCTAs up to maxCTAs.");
  }
  config.isBlocking = isBlocking.value_or(c.blocking != 0);
  c.size = std::min(from->size, sizeof c);
  config.given = c;
  // Copied, as they are read later where the communicator is made in another thread.
  const auto hasName = [from](size_t at) { return from->size >= at + sizeof(const char*); };
  if (hasName(offsetof(ncclConfig_t, netName)) && c.netName != nullptr)
    config.netName = std::make_shared<std::string>(c.netName);
  if (hasName(offsetof(ncclConfig_t, commName)) && c.commName != nullptr)
    config.commName = std::make_shared<std::string>(c.commName);
  if (c.maxCTAs != kNcclUnset && config.mostBlocks == 0) {
    config.mostBlocks = blocksOf(c.maxCTAs);
    config.mostBlocksInStreams = ctasOf(c.maxCTAs);
  }
  return config;
}

ncclConfig_t* Config::forReal(ncclConfig_t& copy) const {
  if (!given) return nullptr;
  copy = *given;
  copy.netName = netName ? netName->c_str() : nullptr;
  copy.commName = commName ? commName->c_str() : nullptr;
  return &copy;
}

}  // namespace dfccl::nccl
