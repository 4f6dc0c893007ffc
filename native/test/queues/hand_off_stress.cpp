// What hands blocks and rounds of work over: flip-flop, worker buffers, block pool, waves.
#include <doctest/doctest.h>

#include <vector>

#include "queues/block_pool.hpp"
#include "queues/wave.hpp"
#include "queues/worker_buffer.hpp"
#include "stress.hpp"

using namespace dfccl;
using namespace dfccl::test;

TEST_CASE("flip-flop, worker buffers and block pool: three workers, one trainer, blocks go round") {
  constexpr unsigned kWorkers = 3;
  constexpr uint32_t kBlocks = 6;
  const uint64_t each = scaled(3000);
  struct Block {
    Atomic<uint32_t>* status;
    uint64_t worker;
    uint64_t value;
  };
  FlipFlop<> flipFlop{};
  std::vector<Block> blocks(kWorkers * kBlocks);
  std::vector<Atomic<uint32_t>> status(kWorkers * kBlocks);
  uint64_t errors = 0;
  together(kWorkers + 1, [&](unsigned thread) {
    if (thread < kWorkers) {
      uint64_t storage[4];
      WorkerBuffer<> buffer(flipFlop, storage, 4);
      BlockPool<> pool(&status[thread * kBlocks], kBlocks);
      for (uint64_t i = 1; i <= each; ++i) {
        uint32_t number = kNoBlock;
        while ((number = pool.tryAcquire()) == kNoBlock) {
          buffer.flush();
          giveWay();
        }
        Block& block = blocks[thread * kBlocks + number];
        block = {&status[thread * kBlocks + number], thread, i};
        while (!buffer.push(reinterpret_cast<uint64_t>(&block))) giveWay();
      }
      while (!buffer.flush()) giveWay();
      return;
    }
    BlockHolder<> holder;
    uint64_t next[kWorkers] = {1, 1, 1};
    for (uint64_t n = 0; n < kWorkers * each; ++n) {
      auto* block = reinterpret_cast<Block*>(flipFlop.get(giveWay));
      holder.hold(*block->status);
      if (block->worker >= kWorkers || block->value != next[block->worker]++) ++errors;
    }
    holder.release();
  });
  CHECK(errors == 0);
}

TEST_CASE("wave and padded wave: three workers, every round collected whole") {
  constexpr unsigned kWorkers = 3;
  const uint64_t rounds = scaled(2000);
  for (const bool isPadded : {false, true}) {
    Wave wave{};
    WavePaddedWord control{};
    WavePaddedWord finished[kWorkers]{};
    uint64_t input = 0;
    uint64_t output[kWorkers] = {};
    uint64_t errors = 0;
    const auto work = [&](auto worker, unsigned index) {
      for (uint64_t round = 1; round <= rounds; ++round) {
        while (!worker.isStarted()) giveWay();
        output[index] = input + index;
        worker.finish();
      }
    };
    const auto call = [&](auto caller) {
      for (uint64_t round = 1; round <= rounds; ++round) {
        input = round * 10;
        caller.start();
        while (!caller.isCollected()) giveWay();
        for (unsigned w = 0; w < kWorkers; ++w) errors += output[w] != round * 10 + w;
      }
    };
    together(kWorkers + 1, [&](unsigned thread) {
      if (thread < kWorkers) {
        if (isPadded) {
          work(WavePaddedWorker<>(control, finished[thread]), thread);
        } else {
          work(WaveWorker<>(wave), thread);
        }
      } else if (isPadded) {
        call(WavePaddedCaller<>(control, finished, kWorkers));
      } else {
        call(WaveCaller<>(wave, kWorkers));
      }
    });
    CHECK(errors == 0);
  }
}
