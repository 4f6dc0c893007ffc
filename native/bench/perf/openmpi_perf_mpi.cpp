// The collective tests' timed loop on MPI: the peer of perf_bench, a process a rank.
//
//   mpirun -np 4 openmpi_perf_mpi --test all_reduce --cases cases.txt
#include "perf/faulty_backend.hpp"
#include "perf/mpi_backend.hpp"
#include "perf/runner.hpp"

int main(int argc, char** argv) {
  using namespace dfccl::bench;
  // The watchdog never calls MPI.
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const Arguments arguments(argc, argv, kPlanOptions, "openmpi_perf_mpi --test NAME --cases FILE …\n");
  orEnd([&] {
    MpiBackend backend;
    Plan plan = parsePlan(arguments);
    plan.threads = plan.ranksPerThread = 1;
    plan.cases = readCases(arguments.text("cases", ""), plan.test, backend.ranks());
    if (backend.firstRank() == 0) {
      std::printf("{\"backend\":\"%s\",\"version\":%s,\"ranks\":%u}\n", backend.name(),
                  jsonText(backend.version()).c_str(), backend.ranks());
      std::fflush(stdout);
    }
    if (plan.timeoutSeconds > 0) {
      backend.watch(plan.timeoutSeconds, [](const std::string& what) { endWith(Exit::timeout, what); });
    }
    FaultyBackend faulty(backend, plan.fault);
    Runner(plan.fault.kind == FaultKind::none ? static_cast<Backend&>(backend) : faulty, plan).run();
  });
  MPI_Finalize();
}
