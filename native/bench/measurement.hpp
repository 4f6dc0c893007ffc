#pragma once
// Medians over batches: a batch is long enough for the clock, and the median doesn't mind what else the machine does
// now and then. The fastest batch comes along, for machines that never rest.
#include <algorithm>
#include <chrono>
#include <vector>

namespace dfccl::bench {

inline double nowMicros() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Timing {
  double medianMicros = 0;
  double bestMicros = 0;
  long repetitions = 0;
};

inline Timing summarize(std::vector<double> batches, long repetitions) {
  std::sort(batches.begin(), batches.end());
  return {batches[batches.size() / 2], batches.front(), repetitions};
}

struct BatchPlan {
  int perBatch;
  int batches;
};

/// How to spend a budget on something that takes `onceMicros`.
inline BatchPlan planBatches(double onceMicros, double budgetSeconds) {
  constexpr int kBatches = 31;
  const double budget = budgetSeconds * 1e6;
  const int perBatch = static_cast<int>(std::clamp(budget / kBatches / onceMicros, 1.0, 1e6));
  const int affordable = static_cast<int>(budget / (onceMicros * perBatch));
  return {perBatch, std::clamp(affordable, 5, kBatches)};
}

/// The fastest of a few tries, so that a moment's disturbance doesn't pass for the work's own time.
/// @param repeat `repeat(n)` does the work n times.
template <class Repeat>
double estimateMicros(const Repeat& repeat) {
  repeat(2);
  double best = 1e12;
  double spent = 0;
  for (int n = 1; spent < 2000 && n <= 4096; n *= 2) {
    const double begin = nowMicros();
    repeat(n);
    const double micros = nowMicros() - begin;
    spent += micros;
    best = std::min(best, micros / n);
  }
  return std::max(best, 1e-3);
}

template <class Repeat>
Timing measure(const Repeat& repeat, double budgetSeconds) {
  const BatchPlan plan = planBatches(estimateMicros(repeat), budgetSeconds);
  std::vector<double> batches;
  for (int b = 0; b < plan.batches; ++b) {
    const double begin = nowMicros();
    repeat(plan.perBatch);
    batches.push_back((nowMicros() - begin) / plan.perBatch);
  }
  return summarize(std::move(batches), long{plan.perBatch} * plan.batches);
}

}  // namespace dfccl::bench
