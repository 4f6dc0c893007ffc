// What it costs to start a world of processes: from the first fork until every rank has its first all-reduce behind it,
// and the memory that this takes. One JSON object a line.
//
//   start_processes_bench --ranks 2,4,8,16,32,64 --repetitions 5
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "../arguments.hpp"
#include "cpu/cpu_world.hpp"
#include "measurement.hpp"
#include "opening/join.hpp"
#include "world/defaults.hpp"

namespace {

using namespace dfccl;
using namespace dfccl::bench;

constexpr const char* kUsage = "start_processes_bench [--ranks LIST] [--repetitions N]\n";

/// Of this process alone: what it doesn't share.
uint64_t privateBytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  uint64_t kibibytes = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("Private_Dirty:", 0) == 0) kibibytes = std::strtoull(line.c_str() + 14, nullptr, 10);
  }
  return kibibytes << 10;
}

struct Report {
  double joinedMicros;  // since the first fork
  double doneMicros;
  uint64_t privateBytes;
  uint64_t sharedBytes;  // of the whole world
};

Report runRank(const std::string& job, uint32_t rank, uint32_t ranks, double begin) {
  const uint64_t before = privateBytes();
  WorldOptions options;
  options.ranks = ranks;
  options.policy = defaultPolicy(BackendKind::cpu);
  options.workers = 1;
  options.arenaBytes = size_t{64} << 30;
  join(options, job, rank, 60'000);
  const double joined = nowMicros() - begin;
  CpuWorld world(options);
  CollectiveSpec spec;
  spec.count = 1024;
  for (uint32_t r = 0; r < ranks; ++r) spec.ranks.push_back(r);
  const uint32_t index = world.registerCollective(rank, spec);
  auto* buffer = reinterpret_cast<float*>(options.segment->allocateBuffer(spec.count * sizeof(float)));
  buffer[0] = 1;
  const uint32_t slot = world.rank(rank).submit(index, buffer, buffer, nullptr, nullptr);
  world.ring();
  dfcclResult_t status;
  while (!world.rank(rank).takeCompletion(slot, status)) {
    if (!world.drive()) usleep(100);
  }
  if (buffer[0] != static_cast<float>(ranks)) std::exit(1);
  const double done = nowMicros() - begin;
  struct stat segment {};
  fstat(options.segment->descriptor(), &segment);
  return {joined, done, privateBytes() - before, static_cast<uint64_t>(segment.st_blocks) * 512};
}

/// The slowest rank's times, the mean of the private bytes, and the shared ones.
Report startWorld(uint32_t ranks, int repetition) {
  const std::string job =
      "start-" + std::to_string(getpid()) + "-" + std::to_string(ranks) + "-" + std::to_string(repetition);
  int pipes[2];
  if (pipe(pipes) != 0) std::exit(1);
  const double begin = nowMicros();
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    if (fork() != 0) continue;
    try {
      const Report report = runRank(job, rank, ranks, begin);
      if (write(pipes[1], &report, sizeof report) != sizeof report) _exit(1);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      _exit(1);
    }
    _exit(0);
  }
  close(pipes[1]);
  Report all{}, one;
  uint32_t reports = 0;
  while (read(pipes[0], &one, sizeof one) == sizeof one) {
    all.joinedMicros = std::max(all.joinedMicros, one.joinedMicros);
    all.doneMicros = std::max(all.doneMicros, one.doneMicros);
    all.privateBytes += one.privateBytes / ranks;
    all.sharedBytes = std::max(all.sharedBytes, one.sharedBytes);
    ++reports;
  }
  close(pipes[0]);
  while (wait(nullptr) > 0) {
  }
  if (reports != ranks) std::exit(1);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {"ranks", "repetitions"}, kUsage);
  const int repetitions = static_cast<int>(arguments.number("repetitions", 5));
  for (const std::string& text : split(arguments.text("ranks", "2,4,8,16,32,64"), ',')) {
    const auto ranks = static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
    std::vector<double> joined, done;
    Report report{};
    for (int i = 0; i < repetitions; ++i) {
      report = startWorld(ranks, i);
      joined.push_back(report.joinedMicros);
      done.push_back(report.doneMicros);
    }
    std::printf(
        "{\"ranks\":%u,\"joinedMs\":%.2f,\"firstRunMs\":%.2f,\"privateBytesARank\":%llu,\"sharedBytesARank\":%llu}\n",
        ranks, summarize(joined, repetitions).medianMicros / 1000, summarize(done, repetitions).medianMicros / 1000,
        static_cast<unsigned long long>(report.privateBytes),
        static_cast<unsigned long long>(report.sharedBytes / ranks));
    std::fflush(stdout);
  }
}
