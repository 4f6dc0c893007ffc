#include "simulated/chance.hpp"

#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "simulated/unkindness.hpp"

namespace dfccl::gpu::simulated {
namespace {

using Random = std::minstd_rand;

/// A thread's own, by the order in which threads first came: so a seed tells as much as threads leave to it.
Random& randomOf(int64_t seed) {
  static std::atomic<uint32_t> threads{0};
  thread_local const uint32_t thread = ++threads;
  thread_local int64_t known = 0;
  thread_local Random random;
  if (known != seed) {
    known = seed;
    random.seed(static_cast<uint32_t>(seed) * 1000 + thread);
  }
  return random;
}

useconds_t upTo(Random& random, uint32_t micros) { return static_cast<useconds_t>(random() % (micros + 1)); }

}  // namespace

void mayBePreempted() {
  const int64_t seed = unkindness().preemptions.value();
  if (seed == 0) return;
  Random& random = randomOf(seed);
  const auto chance = random() % 100;
  if (chance < 1) {
    usleep(upTo(random, 5000));
  } else if (chance < 10) {
    usleep(upTo(random, 200));
  } else if (chance < 40) {
    std::this_thread::yield();
  }
}

void mayBeLate() {
  const int64_t seed = unkindness().lateLaunches.value();
  if (seed == 0) return;
  Random& random = randomOf(seed);
  const auto chance = random() % 100;
  if (chance < 3) {
    usleep(upTo(random, 20'000));
  } else if (chance < 30) {
    usleep(upTo(random, 500));
  }
}

}  // namespace dfccl::gpu::simulated
