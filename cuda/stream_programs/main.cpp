// Random programs that use the whole of the streams' API beside all that CUDA makes wait, every result checked.
// Exit: 0 good, 1 wrong results, 2 an error, 3 a hang; 64 a command line that it doesn't understand.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "stream_programs/cuda_calls.hpp"
#include "stream_programs/draw.hpp"
#include "stream_programs/user_kernels.hpp"
#include "stream_programs/watched_world.hpp"

namespace dfccl::gpu::programs {
namespace {

constexpr uint64_t kPerWorld = kIsSimulated ? 50 : 250;
constexpr size_t kMostBytes = kIsSimulated ? size_t{1} << 20 : size_t{4} << 20;
constexpr int kUsage = 64;

/// What nobody has said is drawn, for the seed of its first program.
WorldPlan planOf(const Options& options, uint64_t firstSeed, uint64_t programs) {
  Draw draw(firstSeed, 1000);
  WorldPlan plan{};
  plan.firstSeed = firstSeed;
  plan.programs = programs;
  const uint32_t drawn = draw.hits(60) ? 2 : 2 + static_cast<uint32_t>(draw.below(kMostRanks - 1));
  const bool asProcesses = draw.hits(60), drawnSpread = kIsSimulated && draw.hits(50);
  plan.ranks = options.ranks != 0 ? options.ranks : options.processes > 1 ? options.processes : drawn;
  plan.ranks = std::max(plan.ranks, options.machines);
  plan.machines = options.machines;
  const bool areThreads = options.processes == 1 || (options.processes == 0 && !asProcesses);
  plan.processes = areThreads && options.machines == 1 ? 1 : plan.ranks;
  plan.isSpread = plan.processes == 1 && (options.isSpread || (options.processes == 0 && drawnSpread));
  plan.shape = {plan.ranks, plan.processes == 1 && !plan.isSpread, options.streams,
                options.mostBytes != 0 ? options.mostBytes : kMostBytes, options.features};
  plan.job = "stream-programs-" + std::to_string(getpid()) + "-" + std::to_string(firstSeed);
  return plan;
}

void listAll(const Options& options) {
  for (uint64_t i = 0; i < options.programs; ++i) {
    const WorldPlan plan = planOf(options, options.seed + i, 1);
    const Program program = generate(options.seed + i, plan.shape);
    std::printf("program %llu, %u ranks in %u processes\n", static_cast<unsigned long long>(program.seed), plan.ranks,
                plan.processes);
    for (size_t c = 0; c < program.collectives.size(); ++c) {
      std::printf("collective %zu: %s\n", c, describe(program.collectives[c]).c_str());
    }
    for (uint32_t r = 0; r < plan.ranks; ++r)
      std::printf("%s", listing(program, static_cast<int>(r), ~size_t{0}).c_str());
  }
}

/// Without --programs: as many as there is time for.
uint64_t defaultPrograms() {
  const char* const tier = std::getenv("DFCCL_TEST_TIER");
  return tier != nullptr && std::strcmp(tier, "long") == 0 ? 50'000 : 500;
}

struct Totals {
  uint64_t programs = 0, hangs = 0, wrong = 0, errors = 0;
  double seconds = 0;
};

void print(const char* what, const Totals& totals, const Options& options, const SharedPage& page) {
  std::printf(
      "{\"%s\":\"stream-programs\",\"programs\":%llu,\"collectives\":%llu,\"hangs\":%llu,\"wrong\":%llu,"
      "\"errors\":%llu,\"seed\":%llu,\"seconds\":%.1f,\"without\":\"%s\"}\n",
      what, static_cast<unsigned long long>(totals.programs), static_cast<unsigned long long>(page.runs.load()),
      static_cast<unsigned long long>(totals.hangs), static_cast<unsigned long long>(totals.wrong),
      static_cast<unsigned long long>(totals.errors), static_cast<unsigned long long>(options.seed), totals.seconds,
      options.features.leftOut().c_str());
  std::fflush(stdout);
}

int runAll(const Options& options) {
  SharedPage& page = SharedPage::make();
  Totals totals;
  const auto started = std::chrono::steady_clock::now();
  int worst = kGood;
  uint64_t done = 0;
  while (done < options.programs) {
    const uint64_t perWorld = options.perWorld != 0 ? options.perWorld : kPerWorld;
    const uint64_t count = std::min(perWorld, options.programs - done);
    WatchedWorld world(planOf(options, options.seed + done, count), options, page);
    const int code = world.await();
    done += count;
    uint64_t wrong = 0;
    for (uint32_t r = 0; r < kMostRanks; ++r) wrong = std::max<uint64_t>(wrong, page.ranks[r].wrong);
    totals.programs += page.ranks[0].programs;
    totals.wrong += wrong;
    totals.hangs += code == kHang;
    totals.errors += code == kError;
    worst = std::max(worst, code);
    totals.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    const bool isOver = (code >= kError && !options.goesOn) ||
                        (options.collectives != 0 && page.runs >= options.collectives) ||
                        (options.minutes > 0 && totals.seconds >= options.minutes * 60);
    if (isOver) break;
    if (done < options.programs) print("progress", totals, options, page);
  }
  print("summary", totals, options, page);
  return worst;
}

}  // namespace
}  // namespace dfccl::gpu::programs

int main(int argc, char** argv) {
  using namespace dfccl::gpu::programs;
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) return std::printf("%s", usage().c_str()), 0;
  try {
    Options options = optionsOf(argc, argv);
    options.features = leftOutByRuntime(leftOutHere(options.features));
    if (options.programs == 0) options.programs = defaultPrograms();
    if (options.lists) return listAll(options), 0;
    return runAll(options);
  } catch (const OptionError& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), usage().c_str());
    return kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kError;
  }
}
