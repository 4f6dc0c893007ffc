// The collective tests' timed loop on GPUs: this engine's daemons, or NCCL where it is installed. The peer of
// perf_bench, a JSON object a line; `dfccl perf` writes the file of cases and prints what users read.
//
//   perf_gpu --test all_reduce --backend cuda --ranks-per-thread 2 --cases cases.txt
//   perf_gpu --backend nccl --probe yes        whether it is there, and on which GPUs, instead
#include <cstdlib>
#include <numeric>

#include "dfccl/dfccl.h"
#include "measure/device_memory.hpp"
#include "measure/nccl_backend.hpp"
#include "perf/process_group.hpp"
#include "perf/program.hpp"
#include "world/gpu_backend.hpp"
#include "world/selection.hpp"

namespace {

using namespace dfccl;
using namespace dfccl::bench;

// More than an engine takes that shares its GPU with a model: what is asked for here is bandwidth.
constexpr uint32_t kGrid = 65;

std::string ncclLibrary(const Arguments& arguments) {
  const char* const stated = std::getenv("NCCL_LIBRARY");
  return arguments.text("nccl", stated != nullptr && *stated != 0 ? stated : "libnccl.so.2");
}

/// The GPUs of a plan's ranks, those of all processes: as many from the first one.
std::vector<int> devicesOf(const Plan& plan, const Arguments& arguments) {
  const GpuReport report = reportGpus();
  if (report.obstacle) throw PerfError(Exit::notImplemented, report.obstacle->what());
  std::vector<int> devices(plan.ranks());
  std::iota(devices.begin(), devices.end(), static_cast<int>(arguments.number("device", 0)));
  if (devices.back() >= static_cast<int>(report.devices.size())) {
    throw PerfError(Exit::notImplemented, "There are " + std::to_string(report.devices.size()) +
                                              " GPUs, fewer than the ranks need. Ask for fewer: -t, -g.");
  }
  return devices;
}

/// What a backend uses, and so outlives it.
struct Ground {
  std::unique_ptr<ProcessGroup> group;
  std::unique_ptr<gpu::measure::DeviceMemory> memory;
};

std::unique_ptr<bench::Backend> makeBackend(const std::string& name, const Plan& plan, const Arguments& arguments,
                                            Ground& ground) {
  // Before anything is asked of CUDA, which no child takes over.
  if (name == "nccl") ground.group = std::make_unique<ProcessGroup>(plan.processes);
  const uint32_t firstRank = ground.group ? ground.group->index() * plan.localRanks() : 0;
  std::vector<int> devices = devicesOf(plan, arguments);
  devices = {devices.begin() + firstRank, devices.begin() + firstRank + plan.localRanks()};
  ground.memory = std::make_unique<gpu::measure::DeviceMemory>(devices, firstRank);
  if (name == "nccl") {
    return std::make_unique<gpu::measure::NcclBackend>(
        gpu::measure::NcclBackend::Options{ncclLibrary(arguments), devices, plan.ranksPerThread, plan.timeoutSeconds,
                                           ground.memory.get(), ground.group.get()});
  }
  if (name != "cuda") {
    throw PerfError(Exit::notImplemented, "There is no backend " + name + " in this program: cuda and nccl are.");
  }
  EngineBackend::Options options = engineOptions(plan, arguments);
  options.devices = devices;
  options.memory = ground.memory.get();
  options.grid = static_cast<uint32_t>(arguments.number("grid", kGrid));
  options.lanesFor = [ranks = options.ranks, grid = options.grid](size_t bytes) {
    return lanesOnGpus(Collective::custom, bytes, ranks, grid);
  };
  return std::make_unique<EngineBackend>(std::move(options));
}

/// What stands in the way, or what there is.
void probe(const Arguments& arguments) {
  const auto refuse = [](const Error& error) {
    std::printf("{\"error\":%s,\"remedy\":%s,\"exit\":%d}\n", jsonText(error.message()).c_str(),
                jsonText(error.remedy()).c_str(), static_cast<int>(Exit::notImplemented));
  };
  const GpuReport report = reportGpus();
  if (report.obstacle) return refuse(*report.obstacle);
  std::string version = dfcclVersion();
  if (arguments.text("backend", "cuda") == "nccl") {
    try {
      version = gpu::NcclLibrary(ncclLibrary(arguments)).versionText();
    } catch (const Error& error) {
      return refuse(error);
    }
  }
  std::printf("{\"version\":%s,\"driver\":%s,\"devices\":[", jsonText(version).c_str(),
              jsonText(report.driverModule).c_str());
  for (const GpuDevice& device : report.devices) {
    std::printf("%s{\"device\":%d,\"bus\":%s,\"name\":%s,\"memoryBytes\":%llu}",
                device.number == report.devices.front().number ? "" : ",", device.number,
                jsonText(device.pciAddress).c_str(), jsonText(device.name).c_str(),
                static_cast<unsigned long long>(device.memoryBytes));
  }
  std::printf("]}\n");
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, kPlanOptions, "perf_gpu --test NAME --cases FILE [--backend cuda|nccl] …\n");
  if (arguments.has("probe")) {
    probe(arguments);
    return 0;
  }
  Ground ground;
  runPlan(arguments, "cuda", [&](const std::string& name, const Plan& plan, const Arguments& all) {
    return makeBackend(name, plan, all, ground);
  });
}
