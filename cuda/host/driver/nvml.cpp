#include "host/driver/nvml.hpp"

#include <dlfcn.h>

namespace dfccl::gpu {
namespace {

// Of nvml.h, whose functions are found by name.
using Device = void*;
constexpr int kSuccess = 0;
constexpr int kOverNvlink = 2;  // NVML_P2P_CAPS_INDEX_NVLINK
constexpr int kStatusOk = 0;    // NVML_P2P_STATUS_OK
constexpr unsigned kMostLinks = 18;

}  // namespace

Nvml::Nvml() {
  library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto initialize = reinterpret_cast<int (*)()>(find("nvmlInit_v2"));
  if (initialize != nullptr && initialize() == kSuccess) return;
  if (library_ != nullptr) dlclose(library_);
  library_ = nullptr;
}

Nvml::~Nvml() {
  if (library_ == nullptr) return;
  if (const auto shutDown = reinterpret_cast<int (*)()>(find("nvmlShutdown"))) shutDown();
  dlclose(library_);
}

void* Nvml::find(const char* name) const { return library_ == nullptr ? nullptr : dlsym(library_, name); }

std::string Nvml::driverVersion() const {
  const auto ask = reinterpret_cast<int (*)(char*, unsigned)>(find("nvmlSystemGetDriverVersion"));
  char text[81] = "";
  return ask != nullptr && ask(text, sizeof text) == kSuccess ? text : "";
}

std::optional<int> Nvml::numberOf(const std::string& pciAddress) const {
  const auto byAddress = reinterpret_cast<int (*)(const char*, Device*)>(find("nvmlDeviceGetHandleByPciBusId_v2"));
  const auto number = reinterpret_cast<int (*)(Device, unsigned*)>(find("nvmlDeviceGetIndex"));
  Device device = nullptr;
  unsigned found = 0;
  const bool isKnown = byAddress != nullptr && number != nullptr &&
                       byAddress(pciAddress.c_str(), &device) == kSuccess && number(device, &found) == kSuccess;
  return isKnown ? std::optional(static_cast<int>(found)) : std::nullopt;
}

std::optional<int> Nvml::linksTo(const std::string& pciAddress, const std::string& otherPciAddress) const {
  const auto byAddress = reinterpret_cast<int (*)(const char*, Device*)>(find("nvmlDeviceGetHandleByPciBusId_v2"));
  const auto reach = reinterpret_cast<int (*)(Device, Device, int, int*)>(find("nvmlDeviceGetP2PStatus"));
  const auto linkState = reinterpret_cast<int (*)(Device, unsigned, int*)>(find("nvmlDeviceGetNvLinkState"));
  Device device = nullptr, other = nullptr;
  int status = -1;
  if (byAddress == nullptr || reach == nullptr || linkState == nullptr ||
      byAddress(pciAddress.c_str(), &device) != kSuccess || byAddress(otherPciAddress.c_str(), &other) != kSuccess ||
      reach(device, other, kOverNvlink, &status) != kSuccess) {
    return std::nullopt;
  }
  if (status != kStatusOk) return 0;
  int active = 0;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    int isActive = 0;
    if (linkState(device, link, &isActive) == kSuccess && isActive != 0) ++active;
  }
  return active;
}

}  // namespace dfccl::gpu
