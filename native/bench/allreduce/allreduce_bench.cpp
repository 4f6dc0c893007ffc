// Float32 all-reduce through the C API, the whole way: submission, queue, daemon, completion. One JSON object a line.
//
//   allreduce_bench --ranks 2 --bytes 8,4K,64M --budget 0.2 --mode caller
//   allreduce_bench --ranks 8 --tensors resnet50 --iterations 10 --order random --mode threads
//
// Who works: "caller": one thread submits for all ranks and waits for all, helped by the worker threads, if any;
// "threads": a thread for each rank submits and waits for its own; "workers": one thread submits and sleeps, only the
// worker threads step.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>
#include <thread>

#include "allreduce/tensors.hpp"
#include "dfccl/dfccl.h"
#include "machine_probe.hpp"

namespace {

using namespace dfccl::bench;

constexpr const char* kUsage =
    "allreduce_bench [--ranks N] [--mode caller|threads|workers] [--workers N]\n"
    "  [--bytes SIZES] [--budget SECONDS] | --tensors resnet50|BYTESxCOUNT,... [--iterations N] [--order random|same]\n"
    "  [--seed N] [--probe yes|no]\n";

void ok(dfcclResult_t result) {
  if (result == dfcclSuccess) return;
  std::fprintf(stderr, "%s\n", dfcclGetLastError());
  std::exit(1);
}

enum class Mode { caller, threads, workers };

/// Ranks of a world that all have registered the same all-reduces, and their buffers.
class Job {
 public:
  Job(uint32_t ranks, Mode mode, int workers, const std::vector<uint64_t>& sizes)
      : ranks_(ranks), mode_(mode), ctx_(ranks), in_(ranks), out_(ranks) {
    dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
    config.ranks = ranks;
    config.workers = workers == 0 ? DFCCL_NO_WORKERS : workers;
    ok(dfcclWorldCreate(&config, &world_));
    for (uint32_t r = 0; r < ranks; ++r) {
      ok(dfcclInitRank(world_, static_cast<int>(r), &ctx_[r]));
      for (size_t t = 0; t < sizes.size(); ++t) {
        ok(dfcclRegisterAllReduce(sizes[t] / sizeof(float), dfcclFloat32, dfcclSum, static_cast<int>(t),
                                  dfcclAllRanks(), 0, ctx_[r]));
        in_[r].push_back(std::make_unique<Tensor>(sizes[t]));
        out_[r].push_back(std::make_unique<Tensor>(sizes[t]));
        in_[r].back()->fill(r);
      }
    }
  }
  ~Job() {
    for (const dfcclRankCtx_t ctx : ctx_) ok(dfcclDestroy(ctx));
    ok(dfcclWorldDestroy(world_));
  }

  uint32_t ranks() const { return ranks_; }
  Mode mode() const { return mode_; }

  void submit(uint32_t r, size_t tensor) {
    const bool isCounted = mode_ == Mode::workers;
    ok(dfcclRunAllReduce(in_[r][tensor]->data.get(), out_[r][tensor]->data.get(), static_cast<int>(tensor),
                         isCounted ? count : nullptr, isCounted ? this : nullptr, ctx_[r]));
  }
  void waitForRank(uint32_t r) { ok(dfcclWait(ctx_[r])); }
  /// Until `runs` runs have completed since the last call.
  void waitForAll(uint64_t runs) {
    if (mode_ != Mode::workers) return ok(dfcclWaitAll(ctx_.data(), static_cast<int>(ranks_)));
    awaited_ += runs;
    while (completed_.load(std::memory_order_acquire) != awaited_) sched_yield();
  }

  void clear() {
    for (auto& ofRank : out_) {
      for (auto& tensor : ofRank) std::memset(tensor->data.get(), 0, tensor->bytes);
    }
  }
  uint64_t wrong() const {
    uint64_t sum = 0;
    for (const auto& ofRank : out_) {
      for (const auto& tensor : ofRank) sum += tensor->wrong(ranks_);
    }
    return sum;
  }
  uint64_t preemptions() {
    uint64_t sum = 0;
    for (const dfcclRankCtx_t ctx : ctx_) {
      dfcclCounters_t counters{};
      counters.structSize = sizeof counters;
      ok(dfcclGetCounters(&counters, ctx));
      sum += counters.preemptions;
    }
    return sum;
  }

 private:
  static void count(void* job, dfcclResult_t) {
    static_cast<Job*>(job)->completed_.fetch_add(1, std::memory_order_release);
  }

  uint32_t ranks_;
  Mode mode_;
  dfcclWorld_t world_ = nullptr;
  std::vector<dfcclRankCtx_t> ctx_;
  std::vector<std::vector<std::unique_ptr<Tensor>>> in_, out_;  // [rank][tensor]
  alignas(64) std::atomic<uint64_t> completed_{0};
  uint64_t awaited_ = 0;
};

/// Threads for ranks 1 and up, which do what rank 0's thread asks for.
template <class Work>
class RankThreads {
 public:
  RankThreads(uint32_t ranks, const Work& work) : work_(work), meeting_(ranks) {
    for (uint32_t r = 1; r < ranks; ++r) threads_.emplace_back([this, r] { run(r); });
  }
  ~RankThreads() {
    argument_ = -1;
    meeting_.arrive_and_wait();
  }
  /// work(rank, argument) on every rank's thread; returns when all are done.
  void operator()(int argument) {
    argument_ = argument;
    meeting_.arrive_and_wait();
    work_(0, argument);
    meeting_.arrive_and_wait();
  }

 private:
  void run(uint32_t r) {
    for (;;) {
      meeting_.arrive_and_wait();
      if (argument_ < 0) return;
      work_(r, argument_);
      meeting_.arrive_and_wait();
    }
  }
  const Work& work_;
  std::barrier<> meeting_;
  int argument_ = 0;
  std::vector<std::jthread> threads_;
};

const char* nameOf(Mode mode) {
  return mode == Mode::caller ? "caller" : mode == Mode::threads ? "threads" : "workers";
}

void measureSize(uint32_t ranks, Mode mode, int workers, uint64_t bytes, double budget) {
  Job job(ranks, mode, workers, {bytes});
  Timing t;
  if (mode == Mode::threads) {
    const auto work = [&](uint32_t r, int n) {
      for (int i = 0; i < n; ++i) {
        job.submit(r, 0);
        job.waitForRank(r);
      }
    };
    RankThreads all(ranks, work);
    t = measure([&](int n) { all(n); }, budget);
    job.clear();
    all(1);
  } else {
    const auto repeat = [&](int n) {
      for (int i = 0; i < n; ++i) {
        for (uint32_t r = 0; r < ranks; ++r) job.submit(r, 0);
        job.waitForAll(ranks);
      }
    };
    t = measure(repeat, budget);
    job.clear();
    repeat(1);
  }
  std::printf(
      "{\"engine\":\"dfccl\",\"mode\":\"%s\",\"ranks\":%u,\"bytes\":%llu,\"us\":%.3f,\"bestUs\":%.3f,\"repetitions\":"
      "%ld,\"wrong\":%llu}\n",
      nameOf(mode), ranks, static_cast<unsigned long long>(bytes), t.medianMicros, t.bestMicros, t.repetitions,
      static_cast<unsigned long long>(job.wrong()));
  std::fflush(stdout);
}

void measureTensors(uint32_t ranks, Mode mode, int workers, const std::vector<uint64_t>& sizes, int iterations,
                    bool isRandom, unsigned seed) {
  Job job(ranks, mode, workers, sizes);
  const size_t tensors = sizes.size();
  std::vector<std::mt19937> random;
  std::vector<std::vector<size_t>> order(ranks, std::vector<size_t>(tensors));
  for (uint32_t r = 0; r < ranks; ++r) {
    random.emplace_back(seed + r);
    std::iota(order[r].begin(), order[r].end(), size_t{0});
  }
  const auto submitAll = [&](uint32_t r) {
    for (const size_t t : order[r]) job.submit(r, t);
  };
  const auto shuffleAll = [&] {
    for (uint32_t r = 0; isRandom && r < ranks; ++r) std::shuffle(order[r].begin(), order[r].end(), random[r]);
  };
  std::vector<double> times;
  const auto iterate = [&](const auto& once) {
    for (int i = 0; i <= iterations; ++i) {
      shuffleAll();
      const double begin = nowMicros();
      once();
      if (i != 0) times.push_back(nowMicros() - begin);  // the first warms up
    }
  };
  if (mode == Mode::threads) {
    const auto work = [&](uint32_t r, int) {
      submitAll(r);
      job.waitForRank(r);
    };
    RankThreads all(ranks, work);
    iterate([&] { all(1); });
  } else {
    iterate([&] {
      for (uint32_t r = 0; r < ranks; ++r) submitAll(r);
      job.waitForAll(ranks * tensors);
    });
  }
  const Timing t = summarize(std::move(times), iterations);
  std::printf(
      "{\"engine\":\"dfccl\",\"mode\":\"%s\",\"ranks\":%u,\"tensors\":%zu,\"order\":\"%s\",\"us\":%.1f,\"bestUs\":%.1f,"
      "\"repetitions\":%ld,\"preemptionsPerIteration\":%.0f,\"wrong\":%llu}\n",
      nameOf(mode), ranks, tensors, isRandom ? "random" : "same", t.medianMicros, t.bestMicros, t.repetitions,
      static_cast<double>(job.preemptions()) / (iterations + 1), static_cast<unsigned long long>(job.wrong()));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(
      argc, argv, {"ranks", "mode", "workers", "bytes", "budget", "tensors", "iterations", "order", "seed", "probe"},
      kUsage);
  const auto ranks = static_cast<uint32_t>(arguments.number("ranks", 2));
  const std::string name = arguments.text("mode", "caller");
  const Mode mode = name == "threads" ? Mode::threads : name == "workers" ? Mode::workers : Mode::caller;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const unsigned byDefault = mode == Mode::workers ? cores : mode == Mode::caller ? cores - 1 : 0;
  const int workers = static_cast<int>(arguments.number("workers", byDefault));
  if (arguments.text("probe", "yes") == "yes") printMachineProbe();
  if (arguments.has("tensors")) {
    measureTensors(ranks, mode, workers, parseTensors(arguments.text("tensors", "")),
                   static_cast<int>(arguments.number("iterations", 10)), arguments.text("order", "random") == "random",
                   static_cast<unsigned>(arguments.number("seed", 1)));
  } else {
    for (const uint64_t bytes : parseSizes(arguments.text("bytes", "8,4K,64K,1M"))) {
      measureSize(ranks, mode, workers, bytes, arguments.number("budget", 0.2));
    }
  }
}
