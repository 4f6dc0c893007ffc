#pragma once
// What the programs of the collective tests have in common, whatever library they measure: from the arguments to the
// last row.
#include <signal.h>
#include <sys/prctl.h>

#include <functional>
#include <memory>
#include <string>

#include "perf/engine_backend.hpp"
#include "perf/faulty_backend.hpp"
#include "perf/runner.hpp"

namespace dfccl::bench {

inline EngineBackend::Options engineOptions(const Plan& plan, const Arguments& arguments) {
  EngineBackend::Options options;
  options.ranks = plan.localRanks();
  options.threads = plan.threads;
  options.workers = static_cast<int32_t>(arguments.number("workers", -1));
  options.timeoutSeconds = plan.timeoutSeconds;
  options.programs = readPrograms(arguments.text("program", ""));
  options.inPlacePrograms = readPrograms(arguments.text("in-place-program", ""));
  options.slotPayloadBytes = static_cast<size_t>(arguments.number("slot-bytes", 0));
  options.choices = readChoices(arguments.text("programs", ""));
  return options;
}

using MakeBackend = std::function<std::unique_ptr<Backend>(const std::string& name, const Plan&, const Arguments&)>;

/// Measures what the arguments ask for; ends the program where that can't be done.
inline void runPlan(const Arguments& arguments, const char* defaultBackend, const MakeBackend& makeBackend) {
  // Whoever reads the rows has started this; where that was killed, nobody else would end it.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  orEnd([&] {
    Plan plan = parsePlan(arguments);
    plan.cases = readCases(arguments.text("cases", ""), plan.test, plan.ranks());
    const std::unique_ptr<Backend> backend = makeBackend(arguments.text("backend", defaultBackend), plan, arguments);
    if (backend->ranks() != plan.ranks()) {
      throw PerfError(Exit::notImplemented, std::string("The backend ") + backend->name() +
                                                " has all ranks in one process. Leave --processes out.");
    }
    if (backend->firstRank() == 0) {
      std::printf("{\"backend\":\"%s\",\"version\":%s,\"ranks\":%u}\n", backend->name(),
                  jsonText(backend->version()).c_str(), backend->ranks());
      std::fflush(stdout);
    }
    FaultyBackend faulty(*backend, plan.fault);
    Runner(plan.fault.kind == FaultKind::none ? *backend : faulty, plan).run();
  });
}

}  // namespace dfccl::bench
