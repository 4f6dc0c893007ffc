// Ranks as threads of one process, and as processes: the same checks and the same times, so that they can be compared.
#include <signal.h>
#include <unistd.h>

#include "bench/rank_tasks.hpp"
#include "bench/timing.hpp"
#include "network/support/bad_network.hpp"

namespace dfccl::gpu::bench {
namespace {

int worst(const std::vector<int>& ends) {
  for (const int end : ends) {
    if (end != 0) return end == 124 ? 3 : 1;
  }
  return 0;
}

}  // namespace

/// Lets each machine be a network namespace, of the network that is named.
template <class Network>
int onNetwork(const Network& network, SeatOptions options, const std::function<int(const SeatOptions&)>& run) {
  if (!network.areThere()) {
    std::printf(
        "{\"error\":\"this system has no network namespaces to make (it needs root, iproute2 and nsenter)\"}\n");
    return 1;
  }
  setenv("UCX_TLS", "tcp", 1);  // they share the system's memory, and with it the ways that UCX takes within a machine
  options.enter = [&](uint32_t machine) { return network.enter(machine); };
  options.address = test::Machines::addressOf(0) + ":29500";
  return run(options);
}

/// Whether all are right but for rank 1, which was struck.
int othersWorst(std::vector<int> ends) {
  ends.at(1) = 0;
  return worst(ends);
}

void waitForWork(SeatBarrier& barrier) {
  const uint64_t begin = nowNanos();
  while (barrier.words[0].load(order::relaxed) < 100 && nowNanos() - begin < 20'000'000'000) usleep(1000);
}

int cutOffRank1(const SeatOptions& options, const test::Machines& network, bool isLarge) {
  return onNetwork(network, options, [&](const SeatOptions& on) {
    return worst(onSeats(
        on, [&](Seat& seat) { seat.rank == 1 ? workUntilCutOff(seat, isLarge) : workUntilStruck(seat, isLarge); },
        [&](SeatBarrier& barrier, const std::vector<int>&) {
          waitForWork(barrier);
          if (!network.unplug(1)) std::printf("{\"error\":\"nothing was cut\"}\n");
        }));
  });
}

/// --as processes|threads, --task checks|orders|times|messages|kill|stop|cut, --ranks, --machines, --grid, --list,
/// --iterations, --most-mb, --memory cuda|dfccl, --network loopback|slow
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
    const auto run = [&](const SeatOptions& on) {
      return worst(onSeats(on, [&](Seat& seat) { checkOrders(seat, list, iterations); }));
    };
    if (arguments.text("--network", "loopback") != "slow") return run(options);
    options.areProcesses = true;
    const test::BadWeather weather{.delay = std::chrono::milliseconds(50), .loss = 0, .late = 0};
    return onNetwork(test::BadNetwork(options.machines, weather), options, run);
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
  const bool isLarge = arguments.number("--large", 0) != 0;
  options.areProcesses = true;
  if (task == "cut") {
    options.machines = options.ranks;
    options.muteMillis = 3000;
    return cutOffRank1(options, test::Machines(options.ranks), isLarge);
  }
  const bool kills = task == "kill";
  if (!kills && task != "stop") return 2;
  options.muteMillis = 3000;
  return othersWorst(onSeats(
      options, [&](Seat& seat) { workUntilStruck(seat, isLarge); },
      [&](SeatBarrier& barrier, const std::vector<int>& processes) {
        waitForWork(barrier);
        kill(processes[1], kills ? SIGKILL : SIGSTOP);
        if (kills) return;
        usleep(8'000'000);
        kill(processes[1], SIGKILL);
      }));
}

}  // namespace dfccl::gpu::bench
