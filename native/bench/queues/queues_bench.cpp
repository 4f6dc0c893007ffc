// Nanoseconds an operation of every queue, and wave against padded wave against a condition variable. Compare the rows
// of one run only: on a machine of few or busy cores the threaded rows measure its scheduler.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "queues/completion_cas_slots.hpp"
#include "queues/completion_owned_slots.hpp"
#include "queues/completion_packed_ring.hpp"
#include "queues/completion_vanilla_ring.hpp"
#include "queues/flip_flop.hpp"
#include "queues/leader_broadcast.hpp"
#include "queues/spmc_submission.hpp"
#include "queues/submission_consumer.hpp"
#include "queues/submission_producer.hpp"
#include "queues/wave.hpp"

using namespace dfccl;

namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, Free>;

Memory allocate(size_t bytes) { return Memory(std::aligned_alloc(64, (bytes + 63) / 64 * 64)); }

/// Prints the median of `rounds` rounds, divided by the operations of a round.
template <class Round>
void measure(const char* name, int operations, int rounds, Round&& round) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    round();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    times.push_back(took.count() / operations);
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  std::printf("%-56s %10.1f ns\n", name, times[static_cast<size_t>(rounds / 2)]);
}

constexpr int kRounds = 301;
constexpr uint32_t kCapacity = 1024;

void benchSubmission() {
  const Sqe sqe{.id = 1, .flags = 0, .run = 2, .completionSlot = 3, .sendAddress = 4, .recvAddress = 5};
  const std::vector<Sqe> batch(64, sqe);
  Sqe out{};
  const Memory memory = allocate(SubmissionRing::bytes(kCapacity));
  const auto ring = SubmissionRing::create(memory.get(), kCapacity);
  SubmissionProducer<> producer(ring, 1);
  SubmissionConsumer<> byTail(ring);
  measure("submission ring: submit and take, 1 at a time", kCapacity, kRounds, [&] {
    for (uint32_t i = 0; i < kCapacity; ++i) {
      producer.submit(&sqe, 1);
      byTail.take(out);
    }
  });
  measure("submission ring: submit 64 at a time, read by the tail", kCapacity, kRounds, [&] {
    for (uint32_t i = 0; i < kCapacity; i += 64) producer.submit(batch.data(), 64);
    while (byTail.peek(out)) byTail.pop();
    byTail.release();
  });
  SubmissionConsumer<ReadMode::words> byWords(ring);
  measure("submission ring: submit 64 at a time, read by the words", kCapacity, kRounds, [&] {
    for (uint32_t i = 0; i < kCapacity; i += 64) producer.submit(batch.data(), 64);
    while (byWords.peek(out)) byWords.pop();
    byWords.release();
  });
  const Memory broadcastMemory = allocate(LeaderBroadcast<Sqe>::bytes(kCapacity, 1));
  const auto broadcast = LeaderBroadcast<Sqe>::create(broadcastMemory.get(), kCapacity, 1);
  BroadcastLeader<Sqe> leader(broadcast);
  BroadcastReader<Sqe> reader(broadcast, 0);
  measure("leader broadcast: publish and take, 1 block", kCapacity, kRounds, [&] {
    for (uint32_t i = 0; i < kCapacity; ++i) {
      leader.tryPublish(sqe);
      reader.take(out);
    }
  });
  const Memory spmcMemory = allocate(SpmcSubmission::bytes(kCapacity));
  const auto spmc = SpmcSubmission::create(spmcMemory.get(), kCapacity, 1);
  SpmcProducer<> spmcProducer(spmc);
  SpmcConsumer<> spmcConsumer(spmc);
  measure("SPMC submission: submit and take, 1 block", kCapacity, kRounds, [&] {
    for (uint32_t i = 0; i < kCapacity; ++i) {
      spmcProducer.trySubmit(sqe);
      spmcConsumer.take(out);
    }
  });
}

template <class Q>
void benchCompletion(const char* name) {
  const Memory memory = allocate(Q::bytes(64));
  const Q queue = Q::create(memory.get(), 64);
  typename Q::Producer producer(queue);
  typename Q::Poller poller(queue);
  measure(name, kCapacity, kRounds, [&] {
    for (uint32_t i = 0; i < kCapacity; i += 64) {
      for (int k = 0; k < 64; ++k) {
        uint32_t slot = kNoCompletionSlot;
        if constexpr (requires { typename Q::Claimer; }) {
          slot = typename Q::Claimer(queue).tryClaim();
          if (slot == kNoCompletionSlot) std::abort();
        }
        producer.post(slot, packCqe(static_cast<uint32_t>(k), CqeStatus::completed, i));
      }
      for (int k = 0; k < 64; ++k) poller.poll();
    }
  });
}

void benchFlipFlop() {
  FlipFlop<> flipFlop{};
  measure("flip-flop: add and get, one thread", kCapacity, kRounds, [&] {
    for (uint32_t i = 1; i <= kCapacity; ++i) {
      flipFlop.tryAdd(i);
      flipFlop.tryGet();
    }
  });
}

/// A few looks, then the core goes to whoever needs it.
template <class Condition>
void waitUntil(Condition&& condition) {
  for (int looks = 1; !condition(); ++looks) {
    if (looks % 64 == 0) std::this_thread::yield();
  }
}

constexpr int kWaves = 200;

/// The baseline: one mutex and two condition variables start and collect the workers.
class ConditionRounds {
 public:
  explicit ConditionRounds(int workers) : workers_(workers) {}

  void callRound() {
    std::unique_lock lock(mutex_);
    finished_ = 0;
    ++round_;
    started_.notify_all();
    collected_.wait(lock, [&] { return finished_ == workers_; });
  }

  void workRound(int round) {
    std::unique_lock lock(mutex_);
    started_.wait(lock, [&] { return round_ == round; });
    if (++finished_ == workers_) collected_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable collected_;
  int workers_;
  int round_ = 0;
  int finished_ = 0;
};

/// Times rounds in which `workers` threads are started and collected.
template <class Call, class Work>
void benchRounds(const char* kind, int workers, Call&& call, Work&& work) {
  constexpr int kMeasured = 101;
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w) threads.emplace_back([&work, w] { work(w, kWaves * kMeasured); });
  char name[80];
  std::snprintf(name, sizeof name, "%s: a round, %d worker%s", kind, workers, workers == 1 ? "" : "s");
  measure(name, kWaves, kMeasured, [&] {
    for (int i = 0; i < kWaves; ++i) call();
  });
  for (auto& thread : threads) thread.join();
}

void benchWaves(int workers) {
  Wave wave{};
  WaveCaller<> caller(wave, static_cast<uint32_t>(workers));
  benchRounds(
      "wave, one counter", workers,
      [&] {
        caller.start();
        waitUntil([&] { return caller.isCollected(); });
      },
      [&](int, int rounds) {
        WaveWorker<> worker(wave);
        for (int i = 0; i < rounds; ++i) {
          waitUntil([&] { return worker.isStarted(); });
          worker.finish();
        }
      });

  WavePaddedWord control{};
  std::vector<WavePaddedWord> finished(static_cast<size_t>(workers));
  WavePaddedCaller<> paddedCaller(control, finished.data(), static_cast<uint32_t>(workers));
  benchRounds(
      "wave, padded words", workers,
      [&] {
        paddedCaller.start();
        waitUntil([&] { return paddedCaller.isCollected(); });
      },
      [&](int w, int rounds) {
        WavePaddedWorker<> worker(control, finished[static_cast<size_t>(w)]);
        for (int i = 0; i < rounds; ++i) {
          waitUntil([&] { return worker.isStarted(); });
          worker.finish();
        }
      });

  ConditionRounds condition(workers);
  benchRounds(
      "condition variable", workers, [&] { condition.callRound(); },
      [&](int, int rounds) {
        for (int i = 1; i <= rounds; ++i) condition.workRound(i);
      });
}

}  // namespace

int main() {
  benchSubmission();
  benchCompletion<CompletionVanillaRing<>>("vanilla ring: post and poll, 64 in flight");
  benchCompletion<CompletionPackedRing<>>("packed ring: post and poll, 64 in flight");
  benchCompletion<CompletionCasSlots<>>("CAS slots: post and poll, 64 in flight");
  benchCompletion<CompletionOwnedSlots<>>("owned slots: claim, post and poll, 64 in flight");
  benchFlipFlop();
  benchWaves(1);
  benchWaves(3);
}
