#pragma once
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>

#include "stream_programs/pattern.hpp"

namespace dfccl::gpu::programs {

/// Where a rank is; written by its thread, read by the process that watches.
struct alignas(64) RankPlace {
  std::atomic<uint64_t> moves{0};
  std::atomic<uint64_t> seed{0};  // of the program it runs
  std::atomic<uint64_t> step{0};
  std::atomic<uint64_t> programs{0};  // that are over
  std::atomic<uint64_t> wrong{0};     // of them, whose results were wrong
};

/// Shared by the processes of a world: it is there before they are forked.
struct SharedPage {
  RankPlace ranks[kMostRanks];
  std::atomic<uint32_t> arrived{0}, generation{0};
  std::atomic<uint64_t> runs{0};  // of collectives, over all worlds

  static SharedPage& make() {
    void* memory = mmap(nullptr, sizeof(SharedPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    return *new (memory) SharedPage;
  }

  /// Behind a hang, or before a new world.
  void beginWorld() {
    arrived = 0;
    for (RankPlace& rank : ranks) rank.moves = rank.seed = rank.step = rank.programs = rank.wrong = 0;
  }

  /// Of all ranks, by nothing of CUDA's or the library's.
  void meet(uint32_t count) {
    const uint32_t mine = generation.load(std::memory_order_acquire);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == count) {
      arrived.store(0, std::memory_order_relaxed);
      generation.fetch_add(1, std::memory_order_release);
      return;
    }
    for (uint32_t looks = 0; generation.load(std::memory_order_acquire) == mine; ++looks) {
      looks < 1000 ? static_cast<void>(sched_yield()) : static_cast<void>(usleep(50));
    }
  }
};

}  // namespace dfccl::gpu::programs
