#include "stream_programs/world_process.hpp"

#include <signal.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "stream_programs/cuda_calls.hpp"
#include "stream_programs/library_calls.hpp"
#include "stream_programs/rank_runner.hpp"

namespace dfccl::gpu::programs {
namespace {

constexpr int kIdsOfProgram = 16, kProgramsWithOwnIds = 100'000;

dfcclWorldConfig_t configOf(const WorldPlan& plan, const Options& options, const std::vector<int>& devices) {
  dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
  config.ranks = plan.ranks;
  config.backend = dfcclCuda;
  config.grid = options.grid != 0 ? options.grid : kIsSimulated ? 3 : 0;
  config.arenaBytes = size_t{options.arenaMegabytes != 0 ? options.arenaMegabytes : kIsSimulated ? 64 : 0} << 20;
  if (!devices.empty()) config.devices = devices.data();
  return config;
}

/// As a launcher would start that rank on its machine.
void setLaunch(const WorldPlan& plan, uint32_t rank) {
  const auto set = [](const char* name, const std::string& value) { setenv(name, value.c_str(), 1); };
  set("DFCCL_RANK", std::to_string(rank));
  set("DFCCL_WORLD_SIZE", std::to_string(plan.ranks));
  set("DFCCL_JOB", plan.job);
  set("DFCCL_ADDRESS", "127.0.0.1:" + std::to_string(plan.port));
  set("DFCCL_HOST", "machine " + std::to_string(rank * plan.machines / plan.ranks));
}

dfcclWorld_t makeWorld(const WorldPlan& plan, const Options& options, uint32_t process) {
  const std::vector<int> devices(plan.processes == 1 && !plan.isSpread ? plan.ranks : 0, 0);
  dfcclWorld_t world = nullptr;
  if (plan.processes == 1) {
    const dfcclWorldConfig_t config = configOf(plan, options, devices);
    PROGRAMS_OK(dfcclWorldCreate(&config, &world));
    return world;
  }
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.world = configOf(plan, options, devices);
  if (plan.machines > 1) {
    setLaunch(plan, process);
    PROGRAMS_OK(dfcclJoinWorld(&config, &world, nullptr));
    return world;
  }
  config.job = plan.job.c_str();
  config.rank = static_cast<int>(process);
  PROGRAMS_OK(dfcclJoinWorld(&config, &world, nullptr));
  return world;
}

constexpr int kStateSignal = SIGUSR1;
std::atomic<dfcclRankCtx_t> contextsHere[kMostRanks];

/// Writes what this process's ranks wait for when it is asked by a signal: a thread that hangs can't.
/// @pre No other thread has been started, so that all of them leave the signal to this one.
void answerAboutState() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, kStateSignal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    static char text[64 << 10];
    for (int signal = 0; sigwait(&signals, &signal) == 0;) {
      for (const auto& context : contextsHere) {
        if (context == nullptr || dfcclDescribe(text, sizeof text, context) != dfcclSuccess) continue;
        std::fprintf(stderr, "%s\n", text);
      }
    }
  }).detach();
}

/// @return whether all results were right
bool runRank(const WorldPlan& plan, const Options& options, dfcclWorld_t world, int rank, SharedPage& page) {
  dfcclRankCtx_t context = nullptr;
  PROGRAMS_OK(dfcclInitRank(world, rank, &context));
  contextsHere[rank] = context;
  int device = 0;
  PROGRAMS_OK(dfcclGetDevice(&device, context));
  PROGRAMS_CUDA(cudaSetDevice(device));
  // Whoever is here early must not make others wait that have yet to make their context's memory.
  page.meet(plan.ranks);
  RankRunner runner(rank, plan.ranks, context, page);
  page.meet(plan.ranks);
  RankPlace& place = page.ranks[rank];
  for (uint64_t i = 0; i < plan.programs; ++i) {
    const Program program = generate(plan.firstSeed + i, plan.shape);
    const std::string wrong = runner.run(program, static_cast<int>(i % kProgramsWithOwnIds) * kIdsOfProgram);
    if (!wrong.empty()) {
      ++place.wrong;
      std::string text =
          "WRONG: seed " + std::to_string(program.seed) + ", rank " + std::to_string(rank) + ": " + wrong;
      for (size_t c = 0; c < program.collectives.size() && options.prints; ++c) {
        text += "\ncollective " + std::to_string(c) + ": " + describe(program.collectives[c]);
      }
      if (options.prints) text += "\n" + listing(program, rank, program.steps[static_cast<size_t>(rank)].size());
      std::fprintf(stderr, "%s\n", text.c_str());
    }
    ++place.programs;
    if (rank == 0) page.runs += program.runs;
  }
  // A rank that goes is none of a program's troubles.
  page.meet(plan.ranks);
  contextsHere[rank] = nullptr;
  PROGRAMS_OK(dfcclDestroy(context));
  return place.wrong == 0;
}

}  // namespace

int runProcess(const WorldPlan& plan, const Options& options, uint32_t process, SharedPage& page) {
  try {
    answerAboutState();
    const dfcclWorld_t world = makeWorld(plan, options, process);
    std::atomic<bool> isRight{true};
    const auto runOne = [&](uint32_t rank) {
      try {
        if (!runRank(plan, options, world, static_cast<int>(rank), page)) isRight = false;
      } catch (const std::exception& error) {
        // Nothing is torn down: others are in the middle of what they do.
        std::fprintf(stderr, "ERROR: seed %llu, rank %u, step %llu: %s\n",
                     static_cast<unsigned long long>(page.ranks[rank].seed), rank,
                     static_cast<unsigned long long>(page.ranks[rank].step), error.what());
        _exit(kError);
      }
    };
    if (plan.processes != 1) {
      runOne(process);
    } else {
      std::vector<std::thread> threads;
      for (uint32_t rank = 0; rank < plan.ranks; ++rank) threads.emplace_back(runOne, rank);
      for (std::thread& thread : threads) thread.join();
    }
    PROGRAMS_OK(dfcclWorldDestroy(world));
    return isRight ? kGood : kWrong;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ERROR: process %u: %s\n", process, error.what());
    return kError;
  }
}

}  // namespace dfccl::gpu::programs
