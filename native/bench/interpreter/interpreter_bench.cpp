// A compiled ring all-reduce on the engine beside the same ring written by hand, both on one thread, by turns. One JSON
// object a line.
//
//   interpreter_bench --program ring.bin --bytes 1M,16M --budget 0.2
#include <cstdio>

#include "allreduce/tensors.hpp"
#include "dfccl/dfccl.h"
#include "interpreter/hand_written_ring.hpp"
#include "machine_probe.hpp"
#include "measurement.hpp"
#include "perf/program_file.hpp"

namespace {

using namespace dfccl::bench;

constexpr const char* kUsage =
    "interpreter_bench --program FILE [--bytes SIZES] [--budget SECONDS] [--turns N] [--probe yes|no]\n";

void ok(dfcclResult_t result) {
  if (result == dfcclSuccess) return;
  std::fprintf(stderr, "%s\n", dfcclGetLastError());
  std::exit(1);
}

/// A world without workers: the thread that waits steps all ranks.
class Engine {
 public:
  Engine(const RankPrograms& programs, const std::vector<float*>& in, const std::vector<float*>& out, size_t count)
      : in_(in), out_(out), ctx_(programs.size()) {
    dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
    config.ranks = static_cast<uint32_t>(programs.size());
    config.workers = DFCCL_NO_WORKERS;
    ok(dfcclWorldCreate(&config, &world_));
    for (size_t rank = 0; rank < programs.size(); ++rank) {
      ok(dfcclInitRank(world_, static_cast<int>(rank), &ctx_[rank]));
      ok(dfcclRegisterProgram(programs[rank].data(), programs[rank].size(), count, dfcclFloat32, dfcclSum, 0,
                              dfcclAllRanks(), 0, ctx_[rank]));
    }
  }
  ~Engine() {
    for (const dfcclRankCtx_t ctx : ctx_) ok(dfcclDestroy(ctx));
    ok(dfcclWorldDestroy(world_));
  }

  void run() {
    for (size_t rank = 0; rank < ctx_.size(); ++rank) {
      ok(dfcclRunProgram(in_[rank], out_[rank], 0, nullptr, nullptr, ctx_[rank]));
    }
    ok(dfcclWaitAll(ctx_.data(), static_cast<int>(ctx_.size())));
  }

 private:
  const std::vector<float*> in_, out_;
  dfcclWorld_t world_ = nullptr;
  std::vector<dfcclRankCtx_t> ctx_;
};

struct Buffers {
  Buffers(size_t ranks, uint64_t bytes) {
    for (size_t rank = 0; rank < ranks; ++rank) {
      tensors.emplace_back(bytes).fill(static_cast<uint32_t>(rank));
      pointers.push_back(tensors.back().data.get());
    }
  }
  uint64_t takeWrong() {
    uint64_t wrong = 0;
    for (Tensor& tensor : tensors) {
      wrong += tensor.wrong(static_cast<uint32_t>(tensors.size()));
      std::memset(tensor.data.get(), 0, tensor.bytes);
    }
    return wrong;
  }
  std::vector<Tensor> tensors;
  std::vector<float*> pointers;
};

void compare(const RankPrograms& programs, uint64_t bytes, double budgetSeconds, int turns) {
  Buffers in(programs.size(), bytes), out(programs.size(), bytes);
  const size_t count = bytes / sizeof(float);
  Engine engine(programs, in.pointers, out.pointers, count);
  HandWrittenRing byHand(in.pointers, out.pointers, count);
  uint64_t wrong = 0;
  std::vector<double> engineMicros, handMicros, ratios;
  for (int turn = 0; turn < turns; ++turn) {
    const auto time = [&](auto& contender) {
      const Timing timing = measure(
          [&](int times) {
            for (int i = 0; i < times; ++i) contender.run();
          },
          budgetSeconds);
      wrong += out.takeWrong();
      return timing.medianMicros;
    };
    engineMicros.push_back(time(engine));
    handMicros.push_back(time(byHand));
    ratios.push_back(engineMicros.back() / handMicros.back());
  }
  std::printf("{\"ranks\":%zu,\"bytes\":%llu,\"engineUs\":%.3f,\"handUs\":%.3f,\"ratio\":%.4f,\"wrong\":%llu}\n",
              programs.size(), static_cast<unsigned long long>(bytes), summarize(engineMicros, turns).medianMicros,
              summarize(handMicros, turns).medianMicros, summarize(ratios, turns).medianMicros,
              static_cast<unsigned long long>(wrong));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {"program", "bytes", "budget", "turns", "probe"}, kUsage);
  if (!arguments.has("program")) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  try {
    const RankPrograms programs = readRankPrograms(arguments.text("program", ""));
    if (arguments.text("probe", "yes") == "yes") printMachineProbe();
    for (const uint64_t bytes : parseSizes(arguments.text("bytes", "256K,1M,4M,16M,64M"))) {
      compare(programs, bytes, arguments.number("budget", 0.1), static_cast<int>(arguments.number("turns", 7)));
    }
  } catch (const PerfError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
