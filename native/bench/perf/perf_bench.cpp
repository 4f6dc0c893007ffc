// The collective tests' timed loop on this machine's engine, or on nothing at all (what the loop itself costs). One
// JSON object a line: the machine, then a case each. `dfccl perf` writes the file of cases and prints what users read.
//
//   perf_bench --test all_reduce --backend cpu --ranks-per-thread 4 --cases cases.txt
//   perf_bench --probe yes        what the machine can do, instead
#include "machine_probe.hpp"
#include "perf/cpu_backend.hpp"
#include "perf/faulty_backend.hpp"
#include "perf/noop_backend.hpp"
#include "perf/runner.hpp"

namespace {

using namespace dfccl::bench;

std::unique_ptr<Backend> makeBackend(const std::string& name, const Plan& plan, const Arguments& arguments) {
  const uint32_t ranks = plan.threads * plan.ranksPerThread;
  if (name == "noop") return std::make_unique<NoopBackend>(ranks);
  if (name == "cpu") {
    CpuBackend::Options options;
    options.ranks = ranks;
    options.threads = plan.threads;
    options.workers = static_cast<int32_t>(arguments.number("workers", -1));
    options.timeoutSeconds = plan.timeoutSeconds;
    options.program = readPrograms(arguments.text("program", ""));
    options.inPlaceProgram = readPrograms(arguments.text("in-place-program", ""));
    return std::make_unique<CpuBackend>(std::move(options));
  }
  throw PerfError(Exit::notImplemented, "There is no backend " + name + " in this program: cpu and noop are.");
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, kPlanOptions, "perf_bench --test NAME --cases FILE [--backend cpu|noop] …\n");
  if (arguments.has("probe")) {
    printMachineProbe();
    return 0;
  }
  try {
    Plan plan = parsePlan(arguments);
    const uint32_t ranks = plan.threads * plan.ranksPerThread;
    plan.cases = readCases(arguments.text("cases", ""), plan.test, ranks);
    const std::unique_ptr<Backend> backend = makeBackend(arguments.text("backend", "cpu"), plan, arguments);
    std::printf("{\"backend\":\"%s\",\"version\":%s,\"ranks\":%u}\n", backend->name(),
                quoted(backend->version()).c_str(), backend->ranks());
    std::fflush(stdout);
    FaultyBackend faulty(*backend, plan.fault);
    Runner(plan.fault.kind == FaultKind::none ? *backend : faulty, plan).run();
  } catch (const PerfError& error) {
    endWith(error.exit, error.what());
  } catch (const std::bad_alloc&) {
    endWith(Exit::internal, "Out of memory. Ask for smaller sizes: --maxbytes.");
  }
}
