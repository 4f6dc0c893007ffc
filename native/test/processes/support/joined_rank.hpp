#pragma once
// One rank of a world of processes, with float32 all-reduces whose sums are exact.
#include <sched.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "cpu/cpu_world.hpp"
#include "opening/join.hpp"
#include "world/defaults.hpp"

namespace dfccl::test {

inline float inputAt(uint32_t rank, uint32_t id, uint64_t run, uint64_t i) {
  return static_cast<float>((rank + 1) * ((i * 7 + id * 3 + run) % 64));
}

inline WorldOptions smallWorld(uint32_t ranks) {
  WorldOptions options;
  options.ranks = ranks;
  options.limits.collectives = 256;
  options.limits.tasks = 512;
  options.limits.submissionSlots = options.limits.completionSlots = 256;
  options.policy = defaultPolicy(BackendKind::cpu);
  options.arenaBytes = size_t{1} << 30;
  options.workers = 0;
  return options;
}

class JoinedRank {
  static constexpr uint32_t kLooksBeforeRest = 100;
  static constexpr std::chrono::microseconds kRest{50};

 public:
  JoinedRank(const std::string& job, uint32_t rank, uint32_t ranks, uint32_t muteMillis = 10'000, uint32_t workers = 0,
             const RendezvousPoint* point = nullptr) {
    WorldOptions options = smallWorld(ranks);
    options.muteMillis = muteMillis;
    options.workers = workers;
    join(options, job, rank, 30'000, nullptr, point);
    world_ = std::make_unique<CpuWorld>(options);
    number_ = rank;
  }

  CpuWorld& world() { return *world_; }
  uint32_t number() const { return number_; }

  struct AllReduce {
    uint32_t id;
    uint32_t index;
    std::vector<uint32_t> ranks;
    uint64_t count;
    float* in;
    float* out;
    uint64_t runs = 0;
  };

  AllReduce add(uint32_t id, uint64_t count, std::vector<uint32_t> ranks) {
    CollectiveSpec spec;
    spec.id = id;
    spec.count = count;
    spec.ranks = ranks;
    const uint32_t index = world_->registerCollective(number_, spec);
    Segment& segment = *world_->segment();
    return {id,
            index,
            std::move(ranks),
            count,
            reinterpret_cast<float*>(segment.allocateBuffer(count * sizeof(float))),
            reinterpret_cast<float*>(segment.allocateBuffer(count * sizeof(float)))};
  }

  /// Queues the next run. @return its completion slot.
  uint32_t submit(AllReduce& c) {
    for (uint64_t i = 0; i < c.count; ++i) c.in[i] = inputAt(number_, c.id, c.runs, i);
    ++c.runs;
    uint32_t slot;
    while ((slot = world_->rank(number_).submit(c.index, c.in, c.out, nullptr, nullptr)) == CpuRank::kFull) step();
    world_->ring();
    return slot;
  }

  dfcclResult_t wait(uint32_t slot) {
    dfcclResult_t status;
    while (!world_->rank(number_).takeCompletion(slot, status)) step();
    return status;
  }

  /// Goes on until so many ranks are known to be gone. @return false when the limit is over.
  bool awaitLost(size_t atLeast, std::chrono::seconds limit = std::chrono::seconds(60)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (world_->lostRanks().size() < atLeast) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      step();
    }
    return true;
  }

  /// Goes on until all that live have agreed on who they are.
  std::vector<uint32_t> agree() {
    for (;;) {
      if (const auto survivors = world_->agreeOnSurvivors()) return *survivors;
      step();
    }
  }

  /// Drives the world, or lets others have the core: as the library's own waits, which rest after a while. Ranks that
  /// yielded without end, hundred thousands of times in a second, held up their own process where it has other threads:
  /// under ThreadSanitizer a proxy stood in mmap() for 2 to 20 s (Linux 6.18, six ranks on two cores), and was given up
  /// for mute.
  void step() {
    if (world_->drive()) {
      looksInVain_ = 0;
    } else if (++looksInVain_ < kLooksBeforeRest) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(kRest);
    }
  }

  /// Elements of the last run's result that are wrong.
  static uint64_t wrong(const AllReduce& c) {
    uint64_t bad = 0;
    for (uint64_t i = 0; i < c.count; ++i) {
      float sum = 0;
      for (const uint32_t rank : c.ranks) sum += inputAt(rank, c.id, c.runs - 1, i);
      bad += c.out[i] != sum;
    }
    return bad;
  }

 private:
  std::unique_ptr<CpuWorld> world_;
  uint32_t number_ = 0;
  uint32_t looksInVain_ = 0;
};

inline std::vector<uint32_t> allRanks(uint32_t ranks) {
  std::vector<uint32_t> all(ranks);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

}  // namespace dfccl::test
