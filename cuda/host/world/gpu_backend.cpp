// What the engine without CUDA asks of this one: native/src/world/gpu_backend.hpp.
#include "world/gpu_backend.hpp"

#include "host/driver/check.hpp"
#include "host/driver/nvml.hpp"
#include "host/driver/relaxed_capture.hpp"
#include "host/rank/device_waits.hpp"
#include "host/world/joined_gpu_world.hpp"

namespace dfccl {
namespace {

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Error unavailable(const std::string& what, const std::string& remedy, int driver, int runtime) {
  return {dfcclUnavailable,
          what,
          remedy,
          {{"backend", "cuda"}, {"driver", versionText(driver)}, {"runtime", versionText(runtime)}}};
}

std::optional<Error> obstacleOf(cudaError_t error, int devices, int driver, int runtime) {
  if (driver == 0) {
    return unavailable("This machine has no NVIDIA driver.", "Install it, or use the CPU.", driver, runtime);
  }
  if (error == cudaErrorInsufficientDriver || driver / 1000 < runtime / 1000) {
    return unavailable("The NVIDIA driver is too old: it speaks CUDA " + versionText(driver) +
                           ", and this engine was built for " + versionText(runtime) + ".",
                       "Update the driver, build with an older CUDA toolkit, or use the CPU.", driver, runtime);
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && devices == 0)) {
    return unavailable("There is no GPU that CUDA can use here.",
                       "Look at nvidia-smi and at the environment variable CUDA_VISIBLE_DEVICES, or use the CPU.",
                       driver, runtime);
  }
  if (error != cudaSuccess) {
    return unavailable(std::string("CUDA can't be used: ") + cudaGetErrorString(error) + ".",
                       "Look at nvidia-smi and at the kernel's log, or use the CPU.", driver, runtime);
  }
  return std::nullopt;
}

GpuDevice describe(int number) {
  cudaDeviceProp properties{};
  gpu::check(cudaGetDeviceProperties(&properties, number), "cudaGetDeviceProperties");
  char address[32] = "";
  cudaDeviceGetPCIBusId(address, sizeof address, number);
  int hostAtomics = 0;
  cudaDeviceGetAttribute(&hostAtomics, cudaDevAttrHostNativeAtomicSupported, number);
  return {number,
          properties.name,
          address,
          properties.major,
          properties.minor,
          static_cast<uint32_t>(properties.multiProcessorCount),
          properties.totalGlobalMem,
          hostAtomics != 0};
}

GpuLink describeLink(const GpuDevice& from, const GpuDevice& to, const gpu::Nvml& nvml) {
  int access = 0, atomics = 0;
  cudaDeviceGetP2PAttribute(&access, cudaDevP2PAttrAccessSupported, from.number, to.number);
  cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from.number, to.number);
  return {from.number, to.number, access != 0, atomics != 0, nvml.linksTo(from.pciAddress, to.pciAddress).value_or(-1)};
}

/// Throws what stands in the way of using GPUs. @return how many there are.
int requireDevices() {
  int driver = 0, runtime = 0, count = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) cudaGetLastError();  // an earlier one is the caller's
  if (const std::optional<Error> obstacle = obstacleOf(error, count, driver, runtime)) throw *obstacle;
  return count;
}

/// Devices of the ranks, as asked for or by turns. @param own the one that is this process's; else all are.
std::vector<int> devicesOf(const WorldOptions& options, int there, std::optional<uint32_t> own) {
  std::vector<int> devices = options.devices;
  if (devices.empty()) {
    for (uint32_t r = 0; r < options.ranks; ++r) devices.push_back(static_cast<int>(r) % there);
  }
  if (devices.size() != options.ranks) {
    throw Error(dfcclInvalidArgument,
                "World option devices names " + std::to_string(devices.size()) + " GPUs for " +
                    std::to_string(options.ranks) + " ranks.",
                "Name one for each rank, or none.", {{"field", "devices"}});
  }
  for (uint32_t r = 0; r < options.ranks; ++r) {
    const int device = devices[r];
    // Another process may see other devices.
    if (own && r != *own) continue;
    if (device >= 0 && device < there) continue;
    throw Error(dfcclInvalidArgument, "World option devices names GPU " + std::to_string(device) + ".",
                "Allowed: 0 to " + std::to_string(there - 1) + ".",
                {{"field", "devices"}, {"value", std::to_string(device)}});
  }
  return devices;
}

}  // namespace

uint32_t roomForRunsOn(int device) {
  // The first of all allocates, which another thread's capture must not notice.
  const gpu::RelaxedCapture relaxed;
  return gpu::DeviceWaits::of(device)->roomForRuns();
}

GpuReport reportGpus() {
  const gpu::RelaxedCapture relaxed;
  GpuReport report;
  report.isBuilt = true;
  cudaRuntimeGetVersion(&report.runtimeVersion);
  cudaDriverGetVersion(&report.driverVersion);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) cudaGetLastError();  // an earlier one is the caller's
  report.obstacle = obstacleOf(error, count, report.driverVersion, report.runtimeVersion);
  const gpu::Nvml nvml;
  report.driverModule = nvml.driverVersion();
  if (report.obstacle) return report;
  try {
    for (int device = 0; device < count; ++device) report.devices.push_back(describe(device));
    for (const GpuDevice& from : report.devices) {
      for (const GpuDevice& to : report.devices) {
        if (from.number != to.number) report.links.push_back(describeLink(from, to, nvml));
      }
    }
  } catch (const Error& failure) {
    report.obstacle = failure;
  }
  return report;
}

void prepareGpu(const WorldOptions& options, uint32_t rank) {
  const gpu::RelaxedCapture relaxed;
  const std::vector<int> devices = devicesOf(options, requireDevices(), rank);
  const gpu::OnDevice here(devices[rank]);
  gpu::check(cudaFree(nullptr), "cudaFree");
}

std::unique_ptr<Backend> openGpuBackend(const WorldOptions& options) {
  const gpu::RelaxedCapture relaxed;
  const std::optional<uint32_t> own = options.segment ? std::optional(options.segment->rank()) : std::nullopt;
  gpu::GpuWorldOptions o;
  o.devices = devicesOf(options, requireDevices(), own);
  o.rank.limits = options.limits;
  o.rank.policy = options.policy;
  o.rank.arenaBytes = options.arenaBytes;
  o.tiles = options.tiles;
  if (!own) return std::make_unique<gpu::GpuWorld>(o);
  o.segment = options.segment;
  o.network = options.network;
  o.muteMillis = options.muteMillis;
  for (uint32_t r = 0; r < options.ranks; ++r) {
    if (r != *own) o.devices[r] = gpu::GpuWorldOptions::kElsewhere;
  }
  return std::make_unique<gpu::JoinedGpuWorld>(o);
}

}  // namespace dfccl
