#include "bench/seats.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "network/support/own_port.hpp"
#include "network/support/rendezvous_points.hpp"

namespace dfccl::gpu::bench {
namespace {

constexpr uint64_t kMeetNanos = 30'000'000'000;
constexpr uint64_t kWaitMicros = 20'000'000;
constexpr uint64_t kEndNanos = 150'000'000'000;

int deviceFor(uint32_t rank) {
  int devices = 0;
  DFCCL_CUDA(cudaGetDeviceCount(&devices));
  return static_cast<int>(rank) % devices;
}

int sit(const SeatOptions& options, uint32_t rank, dfcclWorld_t world, SeatBarrier& barrier,
        const std::function<void(Seat&)>& work) {
  dfcclRankCtx_t context = nullptr;
  try {
    Seat seat{rank, options.ranks, deviceFor(rank), options.areProcesses, options.machines, nullptr, barrier, nullptr};
    DFCCL_CUDA(cudaSetDevice(seat.device));
    DFCCL_CUDA(cudaStreamCreateWithFlags(&seat.stream, cudaStreamNonBlocking));
    DFCCL_EXPECT(dfcclInitRank(world, static_cast<int>(rank), &seat.context));
    context = seat.context;
    work(seat);
    DFCCL_EXPECT(dfcclDestroy(seat.context));
    return 0;
  } catch (const std::exception& error) {
    dfcclCounters_t counters{};
    counters.structSize = sizeof counters;
    if (context != nullptr) dfcclGetCounters(&counters, context);
    std::printf(
        "{\"rank\":%u,\"error\":\"%s\",\"cuda\":\"%s\",\"runsTaken\":%lu,\"runsCompleted\":%lu,\"launches\":%lu,"
        "\"stuckVisits\":%lu}\n",
        rank, error.what(), cudaGetErrorName(cudaGetLastError()), counters.runsTaken, counters.runsCompleted,
        counters.launches, counters.stuckVisits);
    std::fflush(stdout);
    return 1;
  }
}

int sitInProcess(const SeatOptions& options, uint32_t rank, const std::string& job, uint16_t port, SeatBarrier& barrier,
                 const std::function<void(Seat&)>& work) {
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.world.ranks = options.ranks;
  config.world.grid = options.grid;
  config.world.backend = dfcclCuda;
  config.job = job.c_str();
  config.rank = static_cast<int>(rank);
  config.muteMillis = options.muteMillis;
  const std::string address = options.enter ? options.address : "127.0.0.1:" + std::to_string(port);
  const uint32_t number = rank * options.machines / options.ranks;
  const std::string machine = "machine " + std::to_string(number);
  if (options.machines > 1) {
    config.address = address.c_str();
    config.host = machine.c_str();
    config.secret = test::kSecret;
  }
  if (options.enter && !options.enter(number)) {
    std::printf("{\"rank\":%u,\"error\":\"the machine can't be entered\"}\n", rank);
    std::fflush(stdout);
    return 1;
  }
  dfcclWorld_t world = nullptr;
  if (dfcclJoinWorld(&config, &world, nullptr) != dfcclSuccess) {
    std::printf("{\"rank\":%u,\"error\":\"join: %s\"}\n", rank, dfcclGetLastError());
    std::fflush(stdout);
    return 1;
  }
  const int end = sit(options, rank, world, barrier, work);
  if (end == 0) dfcclWorldDestroy(world);
  return end;
}

/// @return its end, or 124.
int endOf(int process, uint64_t deadline) {
  int status = 0;
  for (;;) {
    const int ended = waitpid(process, &status, WNOHANG);
    if (ended == process) return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (nowNanos() > deadline) break;
    usleep(2000);
  }
  kill(process, SIGKILL);
  waitpid(process, &status, 0);
  return 124;
}

}  // namespace

void expect(dfcclResult_t result, const char* call) {
  if (result != dfcclSuccess) throw SeatError(std::string(call) + ": " + dfcclGetLastError());
}

bool SeatBarrier::wait(uint32_t count) {
  const uint32_t seen = round.load(order::acquire);
  if (arrived.fetchAdd(1, order::acqRel) + 1 == count) {
    arrived.store(0, order::relaxed);
    round.store(seen + 1, order::release);
    return true;
  }
  const uint64_t begin = nowNanos();
  for (uint32_t look = 0; round.load(order::acquire) == seen; ++look) {
    cpuPause();
    if (look % 1024 != 0) continue;
    if (nowNanos() - begin > kMeetNanos) return false;
    sched_yield();
  }
  return true;
}

void Seat::meet() const {
  if (!barrier.wait(ranks)) throw SeatError("not all ranks came to the barrier");
}

void Seat::wait() const { DFCCL_EXPECT(dfcclWaitFor(kWaitMicros, context)); }

std::vector<int> onSeats(const SeatOptions& options, const std::function<void(Seat&)>& work,
                         const std::function<void(SeatBarrier&, const std::vector<int>&)>& during) {
  void* shared = mmap(nullptr, sizeof(SeatBarrier), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& barrier = *new (shared) SeatBarrier{};
  std::vector<int> ends(options.ranks, 0);
  std::fflush(stdout);
  if (options.areProcesses) {
    static int count = 0;
    const std::string job = "seats-" + std::to_string(getpid()) + "-" + std::to_string(++count);
    const test::OwnPort port;
    std::vector<int> processes;
    // This process has no CUDA of its own, which no child could use.
    for (uint32_t r = 0; r < options.ranks; ++r) {
      const int child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // a step whose time is over leaves nobody on the GPUs
        const int end = sitInProcess(options, r, job, port.number(), barrier, work);
        std::fflush(stdout);
        _exit(end);
      }
      processes.push_back(child);
    }
    if (during) during(barrier, processes);
    const uint64_t deadline = nowNanos() + kEndNanos;
    for (uint32_t r = 0; r < options.ranks; ++r) ends[r] = endOf(processes[r], deadline);
  } else {
    // In a child too, so that this process can go on to make others.
    const int child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
      config.ranks = options.ranks;
      config.grid = options.grid;
      config.backend = dfcclCuda;
      dfcclWorld_t world = nullptr;
      if (dfcclWorldCreate(&config, &world) != dfcclSuccess) {
        std::printf("{\"error\":\"%s\"}\n", dfcclGetLastError());
        std::fflush(stdout);
        _exit(1);
      }
      std::vector<std::thread> threads;
      Atomic<uint32_t> failed{};
      for (uint32_t r = 0; r < options.ranks; ++r) {
        threads.emplace_back([&, r] {
          if (sit(options, r, world, barrier, work) != 0) failed.store(1, order::relaxed);
        });
      }
      for (std::thread& thread : threads) thread.join();
      std::fflush(stdout);
      _exit(static_cast<int>(failed.load(order::relaxed)));
    }
    const int end = endOf(child, nowNanos() + kEndNanos);
    for (int& each : ends) each = end;
  }
  munmap(shared, sizeof(SeatBarrier));
  return ends;
}

}  // namespace dfccl::gpu::bench
