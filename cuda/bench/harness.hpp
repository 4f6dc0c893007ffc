#pragma once
// What the GPU programs have in common: arguments, deadlines, JSON lines, and ranks that are driven from host threads.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "host/world/gpu_world.hpp"
#include "os/pause.hpp"

namespace dfccl::gpu::bench {

inline uint64_t nowNanos() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

/// `--name value` pairs behind the command.
class Arguments {
 public:
  Arguments(int argc, char** argv) {
    for (int i = 2; i + 1 < argc; i += 2) values_[argv[i]] = argv[i + 1];
  }
  uint64_t number(const char* name, uint64_t otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : std::strtoull(found->second.c_str(), nullptr, 0);
  }
  std::string text(const char* name, const char* otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }

 private:
  std::map<std::string, std::string> values_;
};

/// A world as the arguments ask for: --ranks (default: as many as devices), --grid, --sticky, --residency-us,
/// --fetch-every and --fetch-batch.
struct Bed {
  explicit Bed(const Arguments& arguments);

  GpuWorld& world() { return *world_; }
  uint32_t ranks() const { return ranks_; }
  uint32_t grid() const { return grid_; }
  int device(uint32_t rank) const { return devices_[rank]; }
  /// Runs `work` on a thread for each rank, with its device current.
  void onEveryRank(const std::function<void(uint32_t rank)>& work);
  /// Queues a run, trying again while the queue is full.
  uint32_t submit(uint32_t rank, uint32_t index, const void* send, void* recv);
  /// Waits for a run. Past its deadline it reports what is stuck and ends the process.
  void await(uint32_t rank, uint32_t slot);
  /// Counters of all ranks as one JSON object.
  std::string countersJson();
  [[noreturn]] void fail(const std::string& what);

 private:
  uint32_t ranks_, grid_;
  uint64_t deadlineNanos_;
  std::vector<int> devices_;
  std::unique_ptr<GpuWorld> world_;
};

/// Device memory and a stream of one rank, for data and checks.
class Buffers {
 public:
  Buffers(int device, size_t bytes, unsigned streamFlags = cudaStreamNonBlocking);
  void* at(size_t byteOffset) { return memory_ + byteOffset; }
  cudaStream_t stream() const { return stream_; }
  unsigned* wrong() const { return wrong_; }
  /// Elements that the checks so far found wrong.
  unsigned wrongSoFar();

 private:
  int device_;
  uint8_t* memory_ = nullptr;
  unsigned* wrong_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// All threads of a measurement meet here.
class ThreadBarrier {
 public:
  explicit ThreadBarrier(uint32_t count) : count_(count) {}
  void wait() {
    const uint32_t round = round_.load(order::acquire);
    if (arrived_.fetchAdd(1, order::acqRel) + 1 == count_) {
      arrived_.store(0, order::relaxed);
      round_.store(round + 1, order::release);
      return;
    }
    while (round_.load(order::acquire) == round) cpuPause();
  }

 private:
  const uint32_t count_;
  Atomic<uint32_t> arrived_, round_;
};

int runTypes(const Arguments& arguments);
int runOrders(const Arguments& arguments);
int runSynchronize(const Arguments& arguments);
int runLatency(const Arguments& arguments);
int runPipeline(const Arguments& arguments);
int runBurst(const Arguments& arguments);
int runPhases(const Arguments& arguments);
int runCompare(const Arguments& arguments);
int runStreams(const Arguments& arguments);
int runGraphs(const Arguments& arguments);
int runGraphOrders(const Arguments& arguments);
int runOverheads(const Arguments& arguments);
int runMemory(const Arguments& arguments);
int runTrace(const Arguments& arguments);
int runHazards(const Arguments& arguments);
int runNcclOrders(const Arguments& arguments);
int runRanks(const Arguments& arguments);
int runIpcProbe(const Arguments& arguments);
int runBlockedCalls(const Arguments& arguments);
int runHardwareQueues(const Arguments& arguments);
int runLoadBarrier(const Arguments& arguments);

}  // namespace dfccl::gpu::bench
