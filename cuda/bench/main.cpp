// Tests and measurements on real GPUs, one command a process, JSON lines on stdout. Exit: 0 good, 1 wrong results,
// 2 an error, 3 something was stuck.
#include <unistd.h>

#include <cstring>

#include "bench/harness.hpp"

int main(int argc, char** argv) {
  using namespace dfccl::gpu::bench;
  const struct {
    const char* name;
    int (*run)(const Arguments&);
  } commands[] = {{"types", runTypes},
                  {"orders", runOrders},
                  {"synchronize", runSynchronize},
                  {"latency", runLatency},
                  {"pipeline", runPipeline},
                  {"compare", runCompare},
                  {"phases", runPhases},
                  {"burst", runBurst},
                  {"nccl-orders", runNcclOrders},
                  {"streams", runStreams},
                  {"graphs", runGraphs},
                  {"graph-orders", runGraphOrders},
                  {"overheads", runOverheads},
                  {"memory", runMemory},
                  {"trace", runTrace},
                  {"hazards", runHazards},
                  {"ranks", runRanks},
                  {"ipc-probe", runIpcProbe},
                  {"blocked-calls", runBlockedCalls},
                  {"hardware-queues", runHardwareQueues},
                  {"load-barrier", runLoadBarrier}};
  const Arguments arguments(argc, argv);
  for (const auto& command : commands) {
    if (argc < 2 || std::strcmp(argv[1], command.name) != 0) continue;
    try {
      return command.run(arguments);
    } catch (const std::exception& error) {
      std::printf("{\"error\":\"%s\"}\n", error.what());
      std::fflush(stdout);
      _exit(2);
    }
  }
  std::fprintf(stderr, "usage: %s", argv[0]);
  for (const auto& command : commands) std::fprintf(stderr, "%c%s", &command == commands ? ' ' : '|', command.name);
  std::fprintf(stderr, " [--ranks N] [--grid N] ...\n");
  return 2;
}
