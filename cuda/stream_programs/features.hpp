#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dfccl::gpu::programs {

/// What programs do besides collectives and compute kernels; each can be left out by its name.
enum class Feature : uint32_t {
  modules,         ///< kernels of modules that are not loaded yet
  malloc,          ///< cudaMalloc and cudaFree of memory that no run uses
  hostFree,        ///< cudaMallocHost and cudaFreeHost
  hostUnregister,  ///< cudaHostRegister and cudaHostUnregister
  limits,          ///< cudaDeviceSetLimit of the stack
  pools,           ///< cudaMallocAsync, for buffers of runs too
  pinned,          ///< buffers of runs in pinned memory of the host
  fresh,           ///< buffers that are made for one run and freed after it
  events,          ///< made, recorded, waited for by another stream, destroyed
  streams,         ///< destroyed with work in them, and made
  priority,        ///< streams of any priority, the greatest too
  legacy,          ///< the legacy default stream, and streams that synchronize with it
  perThread,       ///< the per-thread default stream
  synchronize,     ///< of the device and of streams
  hostWaits,       ///< dfcclWaitFor amid a program
  polls,           ///< dfcclPoll amid a program
  aborts,          ///< of an id, by any rank at any moment
  renewals,        ///< ids unregistered and registered again
  subsets,         ///< collectives of some of the ranks
  large,           ///< buffers that move directly, not through connectors
  graphs,          ///< collectives that a graph carries out, captured once and launched again
  count
};

inline constexpr uint32_t kFeatureCount = static_cast<uint32_t>(Feature::count);

class Features {
 public:
  static Features all() { return Features((uint32_t{1} << kFeatureCount) - 1); }

  bool has(Feature feature) const { return (bits_ >> static_cast<uint32_t>(feature) & 1) != 0; }
  void leaveOut(Feature feature) { bits_ &= ~(uint32_t{1} << static_cast<uint32_t>(feature)); }
  /// Those that are left out, separated by commas.
  std::string leftOut() const;

 private:
  explicit Features(uint32_t bits) : bits_(bits) {}
  uint32_t bits_;
};

std::string nameOf(Feature feature);
std::vector<std::string> featureNames();

}  // namespace dfccl::gpu::programs
