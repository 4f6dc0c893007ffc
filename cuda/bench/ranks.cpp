// Ranks as threads of one process, and as processes: the same checks and the same times, so that they can be compared.
#include <signal.h>
#include <unistd.h>

#include "bench/rank_tasks.hpp"
#include "bench/timing.hpp"

namespace dfccl::gpu::bench {
namespace {

int worst(const std::vector<int>& ends) {
  for (const int end : ends) {
    if (end != 0) return end == 124 ? 3 : 1;
  }
  return 0;
}

}  // namespace

/// --as processes|threads, --task checks|orders|times|messages|kill|stop, --ranks, --machines, --grid, --list,
/// --iterations, --most-mb, --memory cuda|dfccl
int runRanks(const Arguments& arguments) {
  SeatOptions options;
  options.ranks = static_cast<uint32_t>(arguments.number("--ranks", 2));
  options.grid = static_cast<uint32_t>(arguments.number("--grid", 33));
  options.areProcesses = arguments.text("--as", "processes") == "processes";
  options.machines = static_cast<uint32_t>(arguments.number("--machines", 1));
  const std::string task = arguments.text("--task", "checks");
  if (task == "checks") {
    return worst(onSeats(options, checkRank));
  }
  if (task == "orders") {
    const std::string list = arguments.text("--list", "resnet50");
    const uint64_t iterations = arguments.number("--iterations", 20);
    return worst(onSeats(options, [&](Seat& seat) { checkOrders(seat, list, iterations); }));
  }
  if (task == "times") {
    const uint64_t most = arguments.number("--most-mb", 256) << 20;
    const bool isAllocated = arguments.text("--memory", "cuda") == "dfccl";
    return worst(onSeats(options, [&](Seat& seat) {
      for (uint64_t bytes = 8; bytes <= most; bytes *= bytes < 4096 ? 512 : 4) timeSums(seat, bytes, 1, isAllocated);
      for (const uint64_t bytes : {8ul, 4096ul, 65536ul, 262144ul, 1048576ul}) timeSums(seat, bytes, 16, isAllocated);
    }));
  }
  if (task == "messages") {
    options.ranks = 2;
    return worst(onSeats(options, [&](Seat& seat) {
      for (const uint64_t bytes : {8ul, 4096ul, 65536ul, 1048576ul, 16777216ul}) timeMessages(seat, bytes);
    }));
  }
  const bool kills = task == "kill";
  if (!kills && task != "stop") return 2;
  const bool isLarge = arguments.number("--large", 0) != 0;
  options.areProcesses = true;
  options.muteMillis = 3000;
  const std::vector<int> ends = onSeats(
      options, [&](Seat& seat) { workUntilStruck(seat, isLarge); },
      [&](SeatBarrier& barrier, const std::vector<int>& processes) {
        const uint64_t begin = nowNanos();
        while (barrier.words[0].load(order::relaxed) < 100 && nowNanos() - begin < 20'000'000'000) usleep(1000);
        kill(processes[1], kills ? SIGKILL : SIGSTOP);
        if (kills) return;
        usleep(8'000'000);
        kill(processes[1], SIGKILL);
      });
  int failures = 0;
  for (uint32_t r = 0; r < ends.size(); ++r) failures += r != 1 && ends[r] != 0;
  return failures == 0 ? 0 : 1;
}

}  // namespace dfccl::gpu::bench
