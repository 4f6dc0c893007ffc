#pragma once
// GPUs as the engine without CUDA sees them. cuda/host defines these functions; where a binary is built without CUDA,
// native/src/without_gpu does.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "world/backend.hpp"

namespace dfccl {

struct GpuDevice {
  int number;
  std::string name;
  std::string pciAddress;
  int computeMajor, computeMinor;
  uint32_t multiprocessors;
  uint64_t memoryBytes;
  bool hostNativeAtomics;  // whether a read-modify-write of host memory is atomic against the CPU
};

/// From one device's point of view.
struct GpuLink {
  int from, to;
  bool canAccess;      // reads and writes the other's memory
  bool nativeAtomics;  // read-modify-writes it too
  int nvlinks;         // active ones between the two, 0: none; -1: unknown
};

/// What there is, and what stands in the way of using it.
struct GpuReport {
  bool isBuilt = false;      // this binary has the GPU engine
  int driverVersion = 0;     // of CUDA that the driver speaks: 13000 is 13.0; 0: no driver
  int runtimeVersion = 0;    // that this binary was built for
  std::string driverModule;  // of the driver itself, as in "580.95.05"; "" where NVML is missing
  std::vector<GpuDevice> devices;
  std::vector<GpuLink> links;     // between any two
  std::optional<Error> obstacle;  // why no world opens here
};

/// Never fails: what goes wrong is the obstacle.
GpuReport reportGpus();
/// How many runs that are kernels in streams may wait on a device at a time, beside the daemons of this process's ranks
/// there. @throws Error dfcclSystemError
uint32_t roomForRunsOn(int device);
/// Before a rank meets those of other processes: makes its GPU ready, which takes as long as all else, and the others
/// would wait for a sign of life meanwhile. @throws Error as openGpuBackend().
void prepareGpu(const WorldOptions& options, uint32_t rank);
/// @throws Error dfcclUnavailable: no driver, no device, a driver that is too old, a binary without the GPU engine.
std::unique_ptr<Backend> openGpuBackend(const WorldOptions& options);

}  // namespace dfccl
