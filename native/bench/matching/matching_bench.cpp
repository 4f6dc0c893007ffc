// What matching by signature costs beside ids that were registered: warm, at the first use, and in uneven forms.
// One JSON object a line.
//
//   matching_bench [--budget SECONDS]
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "arguments.hpp"
#include "dfccl/dfccl.h"
#include "measurement.hpp"

namespace {

using namespace dfccl::bench;

void check(dfcclResult_t result) {
  if (result == dfcclSuccess) return;
  std::fprintf(stderr, "%s\n", dfcclGetLastError());
  std::exit(1);
}

/// All ranks in this thread, so that nothing but the work takes time.
class Ranks {
 public:
  explicit Ranks(int count) : ctx(static_cast<size_t>(count)), group(static_cast<size_t>(count)) {
    dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
    config.ranks = static_cast<uint32_t>(count);
    config.workers = DFCCL_NO_WORKERS;
    check(dfcclWorldCreate(&config, &world_));
    for (int r = 0; r < count; ++r) {
      check(dfcclInitRank(world_, r, &ctx[at(r)]));
      check(dfcclGroupCreate(nullptr, 0, 0, &group[at(r)], ctx[at(r)]));
    }
  }
  ~Ranks() {
    for (const dfcclRankCtx_t one : ctx) dfcclDestroy(one);
    dfcclWorldDestroy(world_);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  static size_t at(int rank) { return static_cast<size_t>(rank); }
  int size() const { return static_cast<int>(ctx.size()); }
  void waitAll() { check(dfcclWaitAll(ctx.data(), size())); }

  std::vector<dfcclRankCtx_t> ctx;
  std::vector<dfcclGroup_t> group;

 private:
  dfcclWorld_t world_ = nullptr;
};

void print(const char* what, int ranks, const Timing& timing, double units = 1) {
  std::printf("{\"what\":\"%s\",\"ranks\":%d,\"ns\":%.1f,\"bestNs\":%.1f}\n", what, ranks,
              timing.medianMicros * 1000 / units, timing.bestMicros * 1000 / units);
  std::fflush(stdout);
}

/// The ways in turn, so that what else the machine does meets all of them.
void compare(double budgetSeconds, int ranks, const std::vector<std::pair<const char*, std::function<void()>>>& ways) {
  constexpr int kRuns = 500;
  std::vector<std::vector<double>> batches(ways.size());
  const double end = nowMicros() + budgetSeconds * 1e6;
  while (nowMicros() < end || batches[0].size() < 11) {
    for (size_t w = 0; w < ways.size(); ++w) {
      const double begin = nowMicros();
      for (int i = 0; i < kRuns; ++i) ways[w].second();
      batches[w].push_back((nowMicros() - begin) / kRuns);
    }
  }
  for (size_t w = 0; w < ways.size(); ++w) print(ways[w].first, ranks, summarize(std::move(batches[w]), 0));
}

/// An all-reduce of 8 bytes.
void measureWarm(double budgetSeconds, int count) {
  Ranks ranks(count);
  std::vector<float> x(2 * ranks.ctx.size()), y(x.size());
  for (int r = 0; r < count; ++r)
    check(dfcclRegisterAllReduce(2, dfcclFloat32, dfcclSum, 7, dfcclAllRanks(), 0, ranks.ctx[Ranks::at(r)]));
  const auto all = [&](auto&& submit) {
    for (size_t r = 0; r < ranks.ctx.size(); ++r) submit(r, &x[2 * r], &y[2 * r]);
    ranks.waitAll();
  };
  const auto bySignature = [&](size_t r, float* in, float* out) {
    check(dfcclAllReduce(in, out, 2, dfcclFloat32, dfcclSum, ranks.group[r], 0, nullptr, nullptr));
  };
  compare(
      budgetSeconds, count,
      {{"id",
        [&] {
          all([&](size_t r, float* in, float* out) { check(dfcclRun(in, out, 7, nullptr, nullptr, ranks.ctx[r])); });
        }},
       {"signature", [&] { all(bySignature); }},
       {"signatureInBatch", [&] {
          check(dfcclBatchBegin());
          for (size_t r = 0; r < ranks.ctx.size(); ++r) bySignature(r, &x[2 * r], &y[2 * r]);
          check(dfcclBatchEnd(nullptr));
          ranks.waitAll();
        }}});
}

/// Of a count that this rank hasn't used, with its run; what is long unused makes room.
void measureFirstUse(int count) {
  Ranks ranks(count);
  constexpr size_t kUses = 6000;
  std::vector<float> x(kUses + 1), y(kUses * ranks.ctx.size());
  std::vector<double> first, again;
  for (size_t n = 1; n <= kUses; ++n) {
    for (std::vector<double>* times : {&first, &again}) {
      const double begin = nowMicros();
      for (size_t r = 0; r < ranks.ctx.size(); ++r) {
        check(dfcclAllReduce(x.data(), &y[r * kUses], n % 2 + 1, dfcclFloat32, dfcclSum, ranks.group[r], n, nullptr,
                             nullptr));
      }
      ranks.waitAll();
      times->push_back(nowMicros() - begin);
    }
  }
  print("firstUse", count, summarize(std::move(first), 0), count);
  print("secondUse", count, summarize(std::move(again), 0), count);
}

/// Sizes of each pair at random between nothing and twice the mean.
void measureAllToAllV(double budgetSeconds, int count, size_t meanBytes) {
  Ranks ranks(count);
  const auto n = ranks.ctx.size();
  std::mt19937 random(7);
  std::uniform_int_distribution<size_t> some(0, 2 * meanBytes);
  std::vector<std::vector<size_t>> sends(n, std::vector<size_t>(n)), recvs = sends;
  for (size_t from = 0; from < n; ++from) {
    for (size_t to = 0; to < n; ++to) sends[from][to] = recvs[to][from] = random() % 8 == 0 ? 0 : some(random);
  }
  std::vector<std::vector<uint8_t>> in(n, std::vector<uint8_t>(2 * n * meanBytes + 1, 1)), out = in;
  const auto once = [&] {
    for (size_t r = 0; r < n; ++r) {
      check(dfcclAllToAllV(in[r].data(), sends[r].data(), nullptr, out[r].data(), recvs[r].data(), nullptr, dfcclUint8,
                           ranks.group[r], 0, nullptr, nullptr));
    }
    ranks.waitAll();
  };
  const Timing timing = measure(
      [&](int times) {
        for (int i = 0; i < times; ++i) once();
      },
      budgetSeconds);
  std::printf("{\"what\":\"allToAllV\",\"ranks\":%d,\"meanBytes\":%zu,\"micros\":%.2f,\"bestMicros\":%.2f}\n", count,
              meanBytes, timing.medianMicros, timing.bestMicros);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {"budget"}, "Usage: matching_bench [--budget SECONDS]\n");
  const double budget = arguments.number("budget", 2);
  for (const int ranks : {2, 8}) measureWarm(budget, ranks);
  for (const int ranks : {2, 8}) measureFirstUse(ranks);
  for (const size_t bytes : {64, 1024, 4096, 32768, 262144}) measureAllToAllV(budget / 4, 8, bytes);
  return 0;
}
