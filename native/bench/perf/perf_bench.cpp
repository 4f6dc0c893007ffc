// The collective tests' timed loop on this machine's engine, or on nothing at all (what the loop itself costs). One
// JSON object a line: the machine, then a case each. `dfccl perf` writes the file of cases and prints what users read.
//
//   perf_bench --test all_reduce --backend cpu --ranks-per-thread 4 --cases cases.txt
//   perf_bench --probe yes        what the machine can do, instead
#include "machine_probe.hpp"
#include "perf/noop_backend.hpp"
#include "perf/program.hpp"

namespace {

using namespace dfccl::bench;

std::unique_ptr<Backend> makeBackend(const std::string& name, const Plan& plan, const Arguments& arguments,
                                     std::unique_ptr<ProcessGroup>& group) {
  if (name == "noop") {
    group = std::make_unique<ProcessGroup>(plan.processes);
    return std::make_unique<NoopBackend>(group.get(), plan.localRanks());
  }
  if (name == "cpu") return std::make_unique<EngineBackend>(engineOptions(plan, arguments));
  throw PerfError(Exit::notImplemented, "There is no backend " + name + " in this program: cpu and noop are.");
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, kPlanOptions, "perf_bench --test NAME --cases FILE [--backend cpu|noop] …\n");
  if (arguments.has("probe")) {
    printMachineProbe();
    return 0;
  }
  std::unique_ptr<ProcessGroup> group;  // outlives what uses it
  runPlan(arguments, "cpu", [&](const std::string& name, const Plan& plan, const Arguments& all) {
    return makeBackend(name, plan, all, group);
  });
}
