#pragma once
#include <optional>
#include <string>

namespace dfccl::gpu {

/// What only the driver's management library knows. It is loaded at run time: it comes with the driver.
class Nvml {
 public:
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool isLoaded() const { return library_ != nullptr; }
  /// "580.95.05"; "" if unknown.
  std::string driverVersion() const;
  /// The device's number for this library and nvidia-smi, which count those that CUDA_VISIBLE_DEVICES hides, too.
  /// @param pciAddress "00000000:3B:00.0". @return nothing if unknown.
  std::optional<int> numberOf(const std::string& pciAddress) const;
  /// NVLinks that the first device has, if it reaches the other over them; 0 if it doesn't; nothing if unknown.
  std::optional<int> linksTo(const std::string& pciAddress, const std::string& otherPciAddress) const;

 private:
  void* find(const char* name) const;

  void* library_ = nullptr;
};

}  // namespace dfccl::gpu
