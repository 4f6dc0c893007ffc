// Float32 all-reduce with one rank a process, as openmpi_allreduce_mpi measures it: every rank submits and waits for
// its own. One JSON object a line, from rank 0.
//
//   mpirun --allow-run-as-root --oversubscribe --bind-to none -np 8 allreduce_processes_bench --bytes 8,4K,64M --budget
//   0.2
//   ... --tensors resnet50 --iterations 10 --order random
#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>

#include "allreduce/tensors.hpp"
#include "dfccl/dfccl.h"
#include "measurement.hpp"

namespace {

using namespace dfccl::bench;

constexpr const char* kUsage =
    "allreduce_processes_bench [--bytes SIZES] [--budget SECONDS] | --tensors resnet50|BYTESxCOUNT,...\n"
    "  [--iterations N] [--order random|same] [--seed N] [--workers N]\n";

// Beside the collectives that are measured: what the ranks need to agree on how often.
constexpr int kPlanId = 1'000'000;
constexpr int kWrongId = 1'000'001;
constexpr int kBarrierId = 1'000'002;

void ok(dfcclResult_t result) {
  if (result == dfcclSuccess) return;
  std::fprintf(stderr, "%s\n", dfcclGetLastError());
  std::exit(1);
}

/// This process's rank.
class Member {
 public:
  explicit Member(int workers) {
    dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
    config.world.workers = workers == 0 ? DFCCL_NO_WORKERS : workers;
    ok(dfcclJoinWorld(&config, &world_, &rank_));
    ok(dfcclInitRank(world_, rank_, &ctx_));
    ok(dfcclRegisterBroadcast(sizeof(BatchPlan), dfcclUint8, 0, kPlanId, dfcclAllRanks(), 0, ctx_));
    ok(dfcclRegisterAllReduce(2, dfcclUint64, dfcclSum, kWrongId, dfcclAllRanks(), 0, ctx_));
    ok(dfcclRegisterBarrier(kBarrierId, dfcclAllRanks(), 0, ctx_));
    plan_ = static_cast<BatchPlan*>(allocate(sizeof(BatchPlan)));
    sums_ = static_cast<uint64_t*>(allocate(2 * sizeof(uint64_t)));
    ranks_ = static_cast<uint32_t>(sum(1, 1));
  }
  ~Member() {
    barrier();
    ok(dfcclDestroy(ctx_));
    ok(dfcclWorldDestroy(world_));
  }

  uint32_t rank() const { return static_cast<uint32_t>(rank_); }
  uint32_t ranks() const { return ranks_; }
  dfcclRankCtx_t ctx() const { return ctx_; }
  void* allocate(size_t bytes) {
    void* memory;
    ok(dfcclAllocate(bytes, &memory, ctx_));
    return memory;
  }
  void wait() { ok(dfcclWait(ctx_)); }
  void barrier() {
    ok(dfcclRunBarrier(kBarrierId, nullptr, nullptr, ctx_));
    wait();
  }
  BatchPlan agree(BatchPlan plan) {
    *plan_ = plan;
    ok(dfcclRunBroadcast(plan_, plan_, kPlanId, nullptr, nullptr, ctx_));
    wait();
    return *plan_;
  }
  /// Over all ranks, of two values: the first one's sum.
  uint64_t sum(uint64_t first, uint64_t second) {
    sums_[0] = first;
    sums_[1] = second;
    ok(dfcclRunAllReduce(sums_, sums_, kWrongId, nullptr, nullptr, ctx_));
    wait();
    return sums_[0];
  }

 private:
  dfcclWorld_t world_ = nullptr;
  dfcclRankCtx_t ctx_ = nullptr;
  int rank_ = 0;
  uint32_t ranks_ = 0;
  BatchPlan* plan_ = nullptr;
  uint64_t* sums_ = nullptr;
};

/// An all-reduce with its buffers.
class Reduction {
 public:
  Reduction(Member& member, int id, uint64_t bytes)
      : member_(member),
        id_(id),
        bytes_(bytes),
        in_(static_cast<float*>(member.allocate(bytes))),
        out_(static_cast<float*>(member.allocate(bytes))) {
    for (uint64_t i = 0; i < count(); ++i) in_[i] = static_cast<float>(member.rank() + 1) * patternAt(i);
    clear();
    ok(dfcclRegisterAllReduce(count(), dfcclFloat32, dfcclSum, id, dfcclAllRanks(), 0, member.ctx()));
  }
  ~Reduction() {
    ok(dfcclUnregister(id_, member_.ctx()));
    ok(dfcclFree(in_, bytes_, member_.ctx()));
    ok(dfcclFree(out_, bytes_, member_.ctx()));
  }
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  void submit() { ok(dfcclRunAllReduce(in_, out_, id_, nullptr, nullptr, member_.ctx())); }
  void clear() { std::memset(out_, 0, bytes_); }
  uint64_t wrong() const {
    const auto factor = static_cast<float>(member_.ranks() * (member_.ranks() + 1) / 2);
    uint64_t bad = 0;
    for (uint64_t i = 0; i < count(); ++i) bad += out_[i] != factor * patternAt(i);
    return bad;
  }

 private:
  uint64_t count() const { return bytes_ / sizeof(float); }
  Member& member_;
  int id_;
  uint64_t bytes_;
  float* in_;
  float* out_;
};

void measureSize(Member& member, uint64_t bytes, double budgetSeconds) {
  Reduction reduction(member, 0, bytes);
  const auto repeat = [&](int n) {
    for (int i = 0; i < n; ++i) {
      reduction.submit();
      member.wait();
    }
  };
  // As in openmpi_allreduce_mpi: all ranks must agree on how often, and rank 0's estimate decides.
  repeat(5);
  double once = 0;
  for (int n = 4; n <= 4096; n *= 4) {
    const double begin = nowMicros();
    repeat(n);
    once = (nowMicros() - begin) / n;
    if (member.agree({once * n > 500, 0}).perBatch) break;
  }
  const BatchPlan plan = member.agree(planBatches(once, budgetSeconds));
  std::vector<double> batches;
  for (int b = 0; b < plan.batches; ++b) {
    const double begin = nowMicros();
    repeat(plan.perBatch);
    batches.push_back((nowMicros() - begin) / plan.perBatch);
  }
  reduction.clear();
  member.barrier();
  repeat(1);
  const uint64_t wrong = member.sum(reduction.wrong(), 0);
  if (member.rank() != 0) return;
  const Timing t = summarize(std::move(batches), long{plan.perBatch} * plan.batches);
  std::printf(
      "{\"engine\":\"dfccl\",\"mode\":\"processes\",\"ranks\":%u,\"bytes\":%llu,\"us\":%.3f,\"bestUs\":%.3f,"
      "\"repetitions\":%ld,\"wrong\":%llu}\n",
      member.ranks(), static_cast<unsigned long long>(bytes), t.medianMicros, t.bestMicros, t.repetitions,
      static_cast<unsigned long long>(wrong));
  std::fflush(stdout);
}

void measureTensors(Member& member, const std::vector<uint64_t>& sizes, int iterations, bool isRandom, unsigned seed) {
  std::vector<std::unique_ptr<Reduction>> reductions;
  for (size_t t = 0; t < sizes.size(); ++t) {
    reductions.push_back(std::make_unique<Reduction>(member, static_cast<int>(t), sizes[t]));
  }
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937 random(seed + member.rank());
  std::vector<double> times;
  for (int i = 0; i <= iterations; ++i) {
    if (isRandom) std::shuffle(order.begin(), order.end(), random);
    member.barrier();
    const double begin = nowMicros();
    for (const size_t t : order) reductions[t]->submit();
    member.wait();
    member.barrier();
    if (i != 0) times.push_back(nowMicros() - begin);  // the first warms up
  }
  uint64_t wrong = 0;
  for (const auto& reduction : reductions) wrong += reduction->wrong();
  dfcclCounters_t counters{};
  counters.structSize = sizeof counters;
  ok(dfcclGetCounters(&counters, member.ctx()));
  wrong = member.sum(wrong, 0);
  const uint64_t preemptions = member.sum(counters.preemptions, 0);
  if (member.rank() != 0) return;
  const Timing t = summarize(std::move(times), iterations);
  std::printf(
      "{\"engine\":\"dfccl\",\"mode\":\"processes\",\"ranks\":%u,\"tensors\":%zu,\"order\":\"%s\",\"us\":%.1f,"
      "\"bestUs\":%.1f,\"repetitions\":%ld,\"preemptionsPerIteration\":%.0f,\"wrong\":%llu}\n",
      member.ranks(), sizes.size(), isRandom ? "random" : "same", t.medianMicros, t.bestMicros, t.repetitions,
      static_cast<double>(preemptions) / (iterations + 1), static_cast<unsigned long long>(wrong));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {"bytes", "budget", "tensors", "iterations", "order", "seed", "workers"},
                            kUsage);
  Member member(static_cast<int>(arguments.number("workers", 0)));
  if (arguments.has("tensors")) {
    measureTensors(member, parseTensors(arguments.text("tensors", "")),
                   static_cast<int>(arguments.number("iterations", 10)), arguments.text("order", "random") == "random",
                   static_cast<unsigned>(arguments.number("seed", 1)));
  } else {
    for (const uint64_t bytes : parseSizes(arguments.text("bytes", "8,4K,64K,1M"))) {
      measureSize(member, bytes, arguments.number("budget", 0.2));
    }
  }
}
