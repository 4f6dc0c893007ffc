#pragma once
// The timed loop of the collective tests, as nccl-tests times: one untimed operation, a barrier, then the wall clock
// over all iterations until everything is done. One JSON object a case.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "measurement.hpp"
#include "perf/average.hpp"
#include "perf/buffers.hpp"
#include "perf/ending.hpp"
#include "perf/plan.hpp"
#include "perf/turns.hpp"

namespace dfccl::bench {

class Runner {
 public:
  Runner(Backend& backend, const Plan& plan)
      : backend_(backend),
        plan_(plan),
        turns_(plan.cases.size(), plan.cycles, plan.takesTurns ? stdin : nullptr),
        meeting_(plan.threads),
        micros_(plan.threads),
        cpuMicros_(plan.threads) {
    size_t sendBytes = 0, recvBytes = 0;
    for (const Case& c : plan.cases) {
      sendBytes = std::max(sendBytes, c.sendElements() * c.elementBytes());
      recvBytes = std::max(recvBytes, c.recvElements() * c.elementBytes());
    }
    const uint32_t local = backend.localRanks();
    for (uint32_t r = 0; r < local; ++r) {
      for (uint32_t k = 0; k < plan.concurrent; ++k) {
        buffers_.emplace_back(backend.memory(), backend.firstRank() + r, sendBytes, recvBytes);
      }
      order_.emplace_back(plan.concurrent);
      std::iota(order_.back().begin(), order_.back().end(), 0u);
      random_.emplace_back(plan.seed + backend.firstRank() + r);
    }
  }

  /// Runs every case, as often as the plan says; or those that standard input names, until it ends.
  void run() {
    std::vector<std::jthread> threads;
    for (uint32_t t = 1; t < plan_.threads; ++t) threads.emplace_back([this, t] { guarded(t); });
    guarded(0);
  }

 private:
  struct Result {
    std::string refusal;
    double micros = 0, cpuMicros = 0;
    uint64_t wrong = 0;
    bool isChecked = false;
    std::vector<double> each;
    PerfCounters counters;
  };

  void guarded(uint32_t thread) {
    orEnd([&] {
      backend_.attachThread(backend_.firstRank() + firstLocal(thread));
      for (;;) {
        meet();
        if (thread == 0) turn_ = nextTurn();
        meet();
        if (!turn_) return;
        runCase(thread, turn_->row, turn_->cycle);
      }
    });
  }

  /// As the first process has it: others don't hear what is asked.
  std::optional<Turn> nextTurn() {
    const std::optional<Turn> mine = backend_.firstRank() == 0 ? turns_.next() : std::nullopt;
    return Turn::unpacked(backend_.ofFirst(Turn::packed(mine)));
  }

  void meet() { meeting_.arrive_and_wait(); }
  void meetAll(uint32_t thread) {
    meet();
    if (thread == 0) backend_.barrier();
    meet();
  }

  void runCase(uint32_t thread, size_t row, uint32_t cycle) {
    const Case& shape = plan_.cases[row];
    if (shape.isForBuffers) return;
    Result results[2];
    for (const bool inPlace : {false, true}) {
      Result& result = results[inPlace];
      result.refusal = backend_.refusal(shape, inPlace);
      if (!result.refusal.empty()) continue;
      meet();
      if (thread == 0) backend_.prepare(shape, inPlace, plan_.concurrent);
      layOut(thread, shape, inPlace);
      meetAll(thread);
      if (shape.isWarmUp) {
        if (!inPlace) repeat(thread, plan_.warmUps);
      } else {
        time(thread, shape.iterations == 0 ? plan_.iterations : shape.iterations, result);
        if (plan_.checks != 0) check(thread, shape, inPlace, result);
      }
      meetAll(thread);
      if (thread == 0) backend_.release();
    }
    if (thread == 0 && !shape.isWarmUp && backend_.firstRank() == 0) print(row, cycle, results);
    meet();
  }

  uint32_t firstLocal(uint32_t thread) const { return thread * plan_.ranksPerThread; }

  RankBuffers& buffersOf(uint32_t local, uint32_t which) { return buffers_[local * plan_.concurrent + which]; }

  void layOut(uint32_t thread, const Case& shape, bool inPlace) {
    for (uint32_t local = firstLocal(thread); local < firstLocal(thread) + plan_.ranksPerThread; ++local) {
      for (uint32_t which = 0; which < plan_.concurrent; ++which) {
        buffersOf(local, which)
            .layOut(shape, backend_.firstRank() + local, inPlace, plan_.unaligned ? shape.elementBytes() : 0);
      }
    }
  }

  void beginRank(uint32_t local) {
    std::vector<uint32_t>& order = order_[local];
    if (plan_.isRandomOrder) std::shuffle(order.begin(), order.end(), random_[local]);
    for (const uint32_t which : order) {
      const Pair pair = buffersOf(local, which).next();
      backend_.enqueue(backend_.firstRank() + local, which, pair.send, pair.recv);
    }
  }

  /// One operation of each of this thread's ranks.
  void begin(uint32_t thread) {
    const uint32_t first = firstLocal(thread);
    const int64_t late = plan_.delayedRank - static_cast<int64_t>(backend_.firstRank());
    for (uint32_t local = first; local < first + plan_.ranksPerThread; ++local) {
      if (local != late) beginRank(local);
    }
    if (plan_.delayedRank < 0 || late < first || late >= first + int64_t{plan_.ranksPerThread}) return;
    // The rank that is late begins last, after doing nothing of use for a while.
    for (const double until = nowMicros() + plan_.delayMicros; nowMicros() < until;) {
    }
    beginRank(static_cast<uint32_t>(late));
  }

  void complete(uint32_t thread) { backend_.complete(backend_.firstRank() + firstLocal(thread), plan_.ranksPerThread); }

  /// An iteration: so many operations of each of this thread's ranks.
  void iterate(uint32_t thread, uint32_t times) {
    const uint32_t operations = times * plan_.ranksPerThread * plan_.concurrent;
    backend_.openGroup(operations);
    for (uint32_t i = 0; i < times; ++i) begin(thread);
    backend_.closeGroup(operations);
  }

  void repeat(uint32_t thread, uint32_t times) {
    for (uint32_t i = 0; i < times; ++i) iterate(thread, 1);
    complete(thread);
  }

  void time(uint32_t thread, uint32_t iterations, Result& result) {
    // Counted from here, the untimed operation too: to ask a GPU between it and the others would let its daemon leave.
    const PerfCounters before = thread == 0 ? backend_.counters() : PerfCounters{};
    meet();
    repeat(thread, 1);
    meetAll(thread);
    const double start = nowMicros();
    for (uint32_t i = 0; i < iterations; ++i) {
      const double began = plan_.perIteration ? nowMicros() : 0;
      iterate(thread, plan_.aggregated);
      if (plan_.blocking != Blocking::never || plan_.perIteration) complete(thread);
      if (plan_.blocking == Blocking::withBarrier) meetAll(thread);
      if (plan_.perIteration && thread == 0 && i >= plan_.skipped) {
        result.each.push_back((nowMicros() - began) / plan_.aggregated);
      }
    }
    const double begun = nowMicros();
    complete(thread);
    const double operations = std::max(1.0, double{1} * iterations * plan_.aggregated * plan_.concurrent);
    micros_[thread] = (nowMicros() - start) / operations;
    cpuMicros_[thread] = (begun - start) / operations;
    meet();
    if (thread != 0) return;
    result.micros = backend_.combine(averageOf(micros_, plan_.average), plan_.average);
    result.cpuMicros = backend_.combine(averageOf(cpuMicros_, plan_.average), plan_.average);
    result.counters = difference(backend_.counters(), before);
  }

  static PerfCounters difference(const PerfCounters& after, const PerfCounters& before) {
    PerfCounters d = after;
    d.preemptions -= before.preemptions;
    d.quits -= before.quits;
    d.visits -= before.visits;
    d.stuckVisits -= before.stuckVisits;
    d.queueLengthSum -= before.queueLengthSum;
    return d;
  }

  void check(uint32_t thread, const Case& shape, bool inPlace, Result& result) {
    if (!shape.isChecked(inPlace) || !backend_.isExact(shape)) return;
    uint64_t wrong = 0;
    for (uint32_t round = 0; round < plan_.checks; ++round) wrong += checkOnce(thread, shape, inPlace, round);
    wrong_.fetch_add(wrong, std::memory_order_relaxed);
    meet();
    if (thread != 0) return;
    result.isChecked = true;
    result.wrong = backend_.sum(wrong_.exchange(0, std::memory_order_relaxed));
  }

  uint64_t checkOnce(uint32_t thread, const Case& shape, bool inPlace, uint32_t round) {
    const size_t element = shape.elementBytes();
    const uint32_t first = firstLocal(thread), last = first + plan_.ranksPerThread;
    const auto dataOf = [&](uint32_t which) { return shape.data(plan_.seed + uint64_t{round} * 8191 + which); };
    for (uint32_t local = first; local < last; ++local) {
      const uint32_t rank = backend_.firstRank() + local;
      for (uint32_t which = 0; which < plan_.concurrent; ++which) {
        buffersOf(local, which).rewind();
        const Pair pair = buffersOf(local, which).first();
        // In place a receive buffer inside the send buffer holds what is to be sent.
        if (!inPlace || shape.recvElements() > shape.sendElements()) {
          backend_.memory().clear(rank, pair.recv, shape.recvElements() * element);
        }
        backend_.memory().fill(rank, const_cast<void*>(pair.send), shape.sendElements(), dataOf(which));
      }
    }
    meetAll(thread);
    repeat(thread, 1);
    meetAll(thread);
    uint64_t wrong = 0;
    for (uint32_t which = 0; which < plan_.concurrent; ++which) {
      std::vector<Received> results;
      for (uint32_t local = first; local < last; ++local) {
        const uint32_t rank = backend_.firstRank() + local;
        if (!shape.isReceived(rank)) continue;
        if (shape.test == Test::broadcast && rank == shape.root && !backend_.copiesOwnPart()) continue;
        results.push_back({rank, buffersOf(local, which).first().recv});
      }
      wrong += backend_.memory().countWrong(results, shape, dataOf(which));
    }
    return wrong;
  }

  void print(size_t row, uint32_t cycle, const Result (&results)[2]) const {
    std::printf("{\"row\":%zu,\"cycle\":%u", row, cycle);
    for (const bool inPlace : {false, true}) {
      const Result& r = results[inPlace];
      std::printf(",\"%s\":{", inPlace ? "inPlace" : "outOfPlace");
      if (!r.refusal.empty()) {
        std::printf("\"refusal\":%s}", jsonText(r.refusal).c_str());
        continue;
      }
      std::printf("\"us\":%.4f,\"cpuUs\":%.4f,\"wrong\":", r.micros, r.cpuMicros);
      if (r.isChecked) std::printf("%llu", static_cast<unsigned long long>(r.wrong));
      if (!r.isChecked) std::printf("null");
      printCounters(r.counters);
      if (plan_.perIteration) {
        std::printf(",\"timesUs\":[");
        for (size_t i = 0; i < r.each.size(); ++i) std::printf("%s%.3f", i == 0 ? "" : ",", r.each[i]);
        std::printf("]");
      }
      std::printf("}");
    }
    std::printf("}\n");
    std::fflush(stdout);
  }

  static void printCounters(const PerfCounters& c) {
    const auto number = [](uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf(
        ",\"counters\":{\"preemptions\":%llu,\"quits\":%llu,\"visits\":%llu,\"stuckVisits\":%llu,\"queueLengthSum\":"
        "%llu,\"queueLengthMaximum\":%llu,\"memoryBytes\":%llu}",
        number(c.preemptions), number(c.quits), number(c.visits), number(c.stuckVisits), number(c.queueLengthSum),
        number(c.queueLengthMaximum), number(c.memoryBytes));
  }

  Backend& backend_;
  const Plan& plan_;
  Turns turns_;
  std::optional<Turn> turn_;  // now
  std::barrier<> meeting_;
  std::vector<RankBuffers> buffers_;          // [local rank][concurrent]
  std::vector<std::vector<uint32_t>> order_;  // [local rank]: in which it begins what runs at the same time
  std::vector<std::mt19937_64> random_;
  std::vector<double> micros_, cpuMicros_;  // [thread]
  std::atomic<uint64_t> wrong_{0};
};

}  // namespace dfccl::bench
