#include <doctest/doctest.h>

#include "queues/block_pool.hpp"
#include "queues/trainer_ring.hpp"
#include "queues/wave.hpp"
#include "queues/worker_buffer.hpp"

using namespace dfccl;

TEST_CASE("flip-flop: holds one value, from whoever was first") {
  FlipFlop<> flipFlop{};
  CHECK(flipFlop.tryGet() == 0);
  CHECK(flipFlop.tryAdd(7));
  CHECK_FALSE(flipFlop.tryAdd(8));
  CHECK(flipFlop.tryGet() == 7);
  CHECK(flipFlop.tryGet() == 0);
  CHECK(flipFlop.tryAdd(8));
  CHECK(flipFlop.get([] { FAIL("it was loaded"); }) == 8);
}

TEST_CASE("flip-flop: the trainer pauses once for each miss") {
  FlipFlop<> flipFlop{};
  int pauses = 0;
  const uint64_t v = flipFlop.get([&] {
    if (++pauses == 3) flipFlop.tryAdd(5);
  });
  CHECK(v == 5);
  CHECK(pauses == 3);
}

TEST_CASE("worker buffer: keeps order, takes capacity + 1 ahead of the trainer, and then refuses") {
  FlipFlop<> flipFlop{};
  uint64_t storage[4];
  WorkerBuffer<> worker(flipFlop, storage, 4);
  for (uint64_t v = 1; v <= 5; ++v) CHECK(worker.push(v));
  CHECK_FALSE(worker.push(6));
  CHECK(worker.size() == 4);
  CHECK(flipFlop.tryGet() == 1);
  CHECK(worker.push(6));
  for (uint64_t v = 2; v <= 6; ++v) {
    CHECK(flipFlop.tryGet() == v);
    CHECK(worker.flush() == (v >= 5));
  }
  CHECK(flipFlop.tryGet() == 0);
}

TEST_CASE("worker buffer: what a hung worker holds, the trainer can't get") {
  FlipFlop<> flipFlop{};
  uint64_t storage[4];
  WorkerBuffer<> worker(flipFlop, storage, 4);
  for (uint64_t v = 1; v <= 5; ++v) CHECK(worker.push(v));
  CHECK(flipFlop.tryGet() == 1);
  CHECK(flipFlop.tryGet() == 0);
  CHECK(worker.size() == 4);
}

namespace {

constexpr uint32_t kSize = 16;

/// Workers that have the next batch ready at once, unless their file system hangs.
struct Workers {
  bool isHung = false;
  uint64_t produced = 0;
  uint64_t tryGet() { return isHung ? 0 : ++produced; }
};

/// The control: the slides' rule taken at its word. At most S/2 held, it waits for a first value.
struct WaitsWhenLow {
  Workers& workers;
  uint64_t storage[kSize];
  uint32_t head = 0;
  uint32_t tail = 0;

  uint32_t size() const { return tail - head; }

  uint64_t next() {
    const bool isLow = size() <= kSize / 2;
    const uint64_t first = workers.tryGet();
    if (first == 0 && isLow) return 0;
    if (first != 0) storage[tail++ % kSize] = first;
    const uint64_t second = isLow ? workers.tryGet() : 0;
    if (second != 0) storage[tail++ % kSize] = second;
    return storage[head++ % kSize];
  }
};

/// Batches in a row that the trainer still gets while every worker hangs, after they kept up for a while.
template <class Ring>
uint32_t absorbedBatches(Ring& ring, Workers& workers) {
  workers.isHung = false;
  for (int i = 0; i < 100; ++i) REQUIRE(ring.next() != 0);
  workers.isHung = true;
  uint32_t batches = 0;
  while (ring.next() != 0) ++batches;
  return batches;
}

}  // namespace

TEST_CASE("trainer ring: delivers in order from a flip-flop and says when it has nothing") {
  FlipFlop<> flipFlop{};
  uint64_t storage[kSize];
  TrainerRing<> ring(flipFlop, storage, kSize);
  CHECK(ring.next() == 0);
  for (uint64_t v = 1; v < 100; ++v) {
    CHECK(flipFlop.tryAdd(v));
    CHECK(ring.next() == v);
  }
  CHECK(ring.next() == 0);
}

TEST_CASE("trainer ring: settles at S/2 + 1 where the workers keep up, and keeps the order") {
  Workers workers;
  uint64_t storage[kSize];
  TrainerRing<Workers> ring(workers, storage, kSize);
  for (uint64_t i = 1; i <= 1000; ++i) {
    CHECK(ring.next() == i);
    CHECK(ring.size() == (i < kSize / 2 + 1 ? i : kSize / 2 + 1));
  }
}

TEST_CASE("trainer ring: a stall of S/2 batches is absorbed, time and again; the literal rule absorbs one") {
  // 20 ms a batch: a file system that hangs for 150 ms costs 7.5 of the 8 batches that S/2 holds.
  Workers workers;
  uint64_t storage[kSize];
  TrainerRing<Workers> ring(workers, storage, kSize);
  for (int stall = 0; stall < 3; ++stall) CHECK(absorbedBatches(ring, workers) >= kSize / 2);

  Workers others;
  WaitsWhenLow literal{others, {}};
  CHECK(absorbedBatches(literal, others) == 1);
}

TEST_CASE("block pool: a block is given out again only after it was freed") {
  Atomic<uint32_t> status[3] = {};
  BlockPool<> pool(status, 3);
  BlockHolder<> trainer;
  CHECK(pool.tryAcquire() == 0);
  CHECK(pool.tryAcquire() == 1);
  CHECK(pool.tryAcquire() == 2);
  CHECK(pool.tryAcquire() == kNoBlock);
  trainer.hold(status[1]);
  CHECK(pool.tryAcquire() == kNoBlock);
  trainer.hold(status[0]);  // frees block 1, which it used last
  CHECK(pool.tryAcquire() == 1);
  CHECK(pool.tryAcquire() == kNoBlock);
  trainer.release();
  trainer.release();
  CHECK(pool.tryAcquire() == 0);
}

TEST_CASE("wave: a round starts every worker once and is collected when all have finished") {
  Wave wave{};
  WaveCaller<> caller(wave, 2);
  WaveWorker<> a(wave);
  WaveWorker<> b(wave);
  for (int round = 0; round < 5; ++round) {
    CHECK_FALSE(a.isStarted());
    caller.start();
    CHECK(a.isStarted());
    CHECK(b.isStarted());
    a.finish();
    CHECK_FALSE(a.isStarted());
    CHECK_FALSE(caller.isCollected());
    b.finish();
    CHECK(caller.isCollected());
  }
}

TEST_CASE("padded wave: a round starts every worker once and is collected when all have finished") {
  WavePaddedWord control{};
  WavePaddedWord finished[2]{};
  WavePaddedCaller<> caller(control, finished, 2);
  WavePaddedWorker<> a(control, finished[0]);
  WavePaddedWorker<> b(control, finished[1]);
  for (int round = 0; round < 5; ++round) {
    CHECK_FALSE(a.isStarted());
    caller.start();
    CHECK(a.isStarted());
    CHECK(b.isStarted());
    b.finish();
    CHECK_FALSE(b.isStarted());
    CHECK_FALSE(caller.isCollected());
    a.finish();
    CHECK(caller.isCollected());
  }
}

TEST_CASE("wave: a caller and a worker that come late join between rounds") {
  Wave wave{};
  WaveCaller<> first(wave, 1);
  WaveWorker<> worker(wave);
  first.start();
  worker.finish();
  WaveCaller<> caller(wave, 1);
  WaveWorker<> late(wave, wave.control.load(order::relaxed));
  CHECK_FALSE(late.isStarted());
  caller.start();
  CHECK(late.isStarted());
}
