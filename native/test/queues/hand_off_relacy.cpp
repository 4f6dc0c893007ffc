// Flip-flop, block pool and wave under relaxed memory orders.
#include "queues/block_pool.hpp"
#include "queues/flip_flop.hpp"
#include "queues/wave.hpp"
#include "relacy_report.hpp"

namespace dfccl::test {

constexpr unsigned kWorkers = 2;
constexpr unsigned kEach = 2;

/// Two workers hand values to a trainer; a value names plain data.
template <class Orders>
struct HandOver : rl::test_suite<HandOver<Orders>, kWorkers + 1> {
  FlipFlop<Orders> flipFlop;
  Plain<uint64_t> data[kWorkers * kEach + 1];

  void thread(unsigned index) {
    if (index < kWorkers) {
      for (unsigned i = 0; i < kEach; ++i) {
        const uint64_t v = 1 + index * kEach + i;
        data[v].set(v * 100);
        while (!flipFlop.tryAdd(v)) pause();
      }
      return;
    }
    bool isTaken[kWorkers * kEach + 1] = {};
    for (unsigned n = 0; n < kWorkers * kEach; ++n) {
      const uint64_t v = flipFlop.get(pause);
      require(!isTaken[v], "taken twice");
      isTaken[v] = true;
      require(data[v].get() == v * 100, "value before its data");
    }
    require(flipFlop.tryGet() == 0, "one too many");
  }
};

struct FlipFlopWeakR1 : FlipFlopOrders {
  static constexpr Order load = order::relaxed;
};
/// The slides' first version, on a machine whose compare-and-swap is no barrier by itself.
struct FlipFlopFlawed : FlipFlopOrders {
  static constexpr Order take = order::relaxed;
};

/// One block goes round between a worker and a trainer.
template <class Orders, uint32_t FreedAs = 0>
struct Recycle : rl::test_suite<Recycle<Orders, FreedAs>, 2> {
  static constexpr unsigned kRounds = 3;
  FlipFlop<> flipFlop;
  Atomic<uint32_t> status[1];
  Plain<uint64_t> block;

  void thread(unsigned index) {
    if (index == 0) {
      BlockPool<Orders> pool(status, 1);
      for (uint64_t round = 1; round <= kRounds; ++round) {
        while (pool.tryAcquire() == kNoBlock) pause();
        block.set(round * 100);
        while (!flipFlop.tryAdd(round)) pause();
      }
      return;
    }
    BlockHolder<Orders> holder;
    for (uint64_t round = 1; round <= kRounds; ++round) {
      require(flipFlop.get(pause) == round, "lost or repeated");
      holder.hold(status[0]);
      require(block.get() == round * 100, "another round's data");
      if constexpr (FreedAs == 0) {
        holder.release();
      } else {
        status[0].store(FreedAs, order::release);
      }
    }
  }
};

struct PoolWeakR1 : BlockPoolOrders {
  static constexpr Order free = order::relaxed;
};
struct PoolWeakA1 : BlockPoolOrders {
  static constexpr Order acquire = order::relaxed;
};

/// The wave with one counter; Caller and Worker may be mutants.
template <class Caller, class Worker>
struct OneCounter : rl::test_suite<OneCounter<Caller, Worker>, kWorkers + 1> {
  static constexpr uint64_t kRounds = 3;
  Wave wave;
  Plain<uint64_t> input;
  Plain<uint64_t> output[kWorkers];

  void thread(unsigned index) {
    if (index < kWorkers) {
      Worker worker(wave);
      for (uint64_t round = 1; round <= kRounds; ++round) {
        while (!worker.isStarted()) pause();
        output[index].set(input.get() + index);
        worker.finish();
      }
      return;
    }
    Caller caller(wave, kWorkers);
    for (uint64_t round = 1; round <= kRounds; ++round) {
      input.set(round * 10);
      caller.start();
      while (!caller.isCollected()) pause();
      for (unsigned w = 0; w < kWorkers; ++w) require(output[w].get() == round * 10 + w, "another round's result");
    }
  }
};

template <class Orders>
using Waving = OneCounter<WaveCaller<Orders>, WaveWorker<Orders>>;

/// The slides' caller: the counter keeps the last round's value.
struct NeverResets : WaveCaller<> {
  NeverResets(Wave& wave, uint32_t workerCount) : WaveCaller(wave, workerCount), wave_(wave) {}
  void start() {
    control_ ^= 1;
    wave_.control.store(control_, order::release);
  }

 private:
  Wave& wave_;
  uint32_t control_ = 0;
};

/// The slides' worker: it adds to the control word.
struct CountsInControl : WaveWorker<> {
  explicit CountsInControl(Wave& wave) : WaveWorker(wave), wave_(wave) {}
  void finish() { wave_.control.fetchAdd(1, order::release); }

 private:
  Wave& wave_;
};

/// The wave with a word a worker.
template <class Orders>
struct Padded : rl::test_suite<Padded<Orders>, kWorkers + 1> {
  static constexpr uint64_t kRounds = 3;
  WavePaddedWord control;
  WavePaddedWord finished[kWorkers];
  Plain<uint64_t> input;
  Plain<uint64_t> output[kWorkers];

  void thread(unsigned index) {
    if (index < kWorkers) {
      WavePaddedWorker<Orders> worker(control, finished[index]);
      for (uint64_t round = 1; round <= kRounds; ++round) {
        while (!worker.isStarted()) pause();
        output[index].set(input.get() + index);
        worker.finish();
      }
      return;
    }
    WavePaddedCaller<Orders> caller(control, finished, kWorkers);
    for (uint64_t round = 1; round <= kRounds; ++round) {
      input.set(round * 10);
      caller.start();
      while (!caller.isCollected()) pause();
      for (unsigned w = 0; w < kWorkers; ++w) require(output[w].get() == round * 10 + w, "another round's result");
    }
  }
};

struct WaveWeakR1 : WaveOrders {
  static constexpr Order start = order::relaxed;
};
struct WaveWeakA1 : WaveOrders {
  static constexpr Order await = order::relaxed;
};
struct WaveWeakR2 : WaveOrders {
  static constexpr Order finish = order::relaxed;
};
struct WaveWeakA2 : WaveOrders {
  static constexpr Order collect = order::relaxed;
};

}  // namespace dfccl::test

int main() {
  using namespace dfccl;
  using namespace dfccl::test;
  RelacyReport report("hand-offs");
  report.holds<HandOver<FlipFlopOrders>>("flip-flop");
  report.isCaught<HandOver<FlipFlopWeakR1>>("flip-flop: R1 load");
  report.isCaught<HandOver<FlipFlopFlawed>>("flip-flop: A1 take (the slides' flawed form)");
  report.holds<Recycle<BlockPoolOrders>>("block pool");
  report.isCaught<Recycle<PoolWeakR1>>("block pool: R1 free");
  report.isCaught<Recycle<PoolWeakA1>>("block pool: A1 acquire");
  report.isCaught<Recycle<BlockPoolOrders, 1>>("block pool: freeing writes 0 (the slides' text writes 1)");
  report.holds<Waving<WaveOrders>>("wave");
  report.isCaught<Waving<WaveWeakR1>>("wave: R1 start");
  report.isCaught<Waving<WaveWeakA1>>("wave: A1 await");
  report.isCaught<Waving<WaveWeakR2>>("wave: R2 finish");
  report.isCaught<Waving<WaveWeakA2>>("wave: A2 collect");
  report.isCaught<OneCounter<NeverResets, WaveWorker<>>>("wave: the counter is reset (the slides forget)");
  report.isCaught<OneCounter<WaveCaller<>, CountsInControl>>(
      "wave: workers count in the counter (the slides: in control)");
  report.holds<Padded<WaveOrders>>("padded wave");
  report.isCaught<Padded<WaveWeakR1>>("padded wave: R1 start");
  report.isCaught<Padded<WaveWeakA1>>("padded wave: A1 await");
  report.isCaught<Padded<WaveWeakR2>>("padded wave: R2 finish");
  report.isCaught<Padded<WaveWeakA2>>("padded wave: A2 collect");
  return report.finish();
}
