#pragma once
// This project's engine through its C API, all ranks in this process: on the CPU, or on a GPU each.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "base/program.hpp"
#include "dfccl/dfccl.h"
#include "perf/backend.hpp"
#include "perf/program_file.hpp"

namespace dfccl::bench {

class EngineBackend : public Backend {
 public:
  struct Options {
    uint32_t ranks = 1;
    uint32_t threads = 1;         // that drive ranks; the cores left over step them all
    int32_t workers = -1;         // -1: the cores left over
    size_t slotPayloadBytes = 0;  // of programs' connections; 0: by default
    double timeoutSeconds = 0;    // 0: none
    ProgramsByLanes programs;     // for tests that aren't collectives of the engine's own
    ProgramsByLanes inPlacePrograms;
    std::vector<RankPrograms> choices;  // among which cases choose
    // On GPUs:
    std::vector<int> devices;  // of the ranks; none: the CPU
    uint32_t grid = 0;         // blocks of each daemon; 0: as many as by default
    Memory* memory = nullptr;
    /// Most blocks for a program of one's own that moves so many bytes.
    std::function<uint32_t(size_t bytes)> lanesFor = [](size_t) { return 1u; };
  };

  explicit EngineBackend(Options options) : options_(std::move(options)) {
    dfcclWorldConfig_t config = DFCCL_WORLD_CONFIG_INIT;
    config.ranks = options_.ranks;
    config.grid = options_.grid;
    config.slotPayloadBytes = options_.slotPayloadBytes;
    if (onGpus()) {
      config.backend = dfcclCuda;
      config.devices = options_.devices.data();
    } else {
      const auto cores = static_cast<int32_t>(std::max(1u, std::thread::hardware_concurrency()));
      const int32_t workers =
          options_.workers >= 0 ? options_.workers : std::max(0, cores - static_cast<int32_t>(options_.threads));
      config.workers = workers == 0 ? DFCCL_NO_WORKERS : workers;
    }
    check(dfcclWorldCreate(&config, &world_));
    ctx_.resize(options_.ranks);
    for (uint32_t r = 0; r < options_.ranks; ++r) {
      check(dfcclInitRank(world_, static_cast<int>(r), &ctx_[r]));
      check(dfcclSetScale(scaleOf(r), ctx_[r]));
    }
  }
  ~EngineBackend() override {
    for (const dfcclRankCtx_t ctx : ctx_) dfcclDestroy(ctx);
    dfcclWorldDestroy(world_);
  }

  const char* name() const override { return onGpus() ? "cuda" : "cpu"; }
  std::string version() const override { return dfcclVersion(); }
  uint32_t ranks() const override { return options_.ranks; }
  Memory& memory() override { return options_.memory != nullptr ? *options_.memory : hostMemory(); }

  std::string refusal(const Case& shape, bool inPlace) const override {
    if (shape.program != 0) return refusalOfChoice(shape, inPlace);
    if (inPlace && (shape.test == Test::allToAllV || shape.test == Test::sendRecv)) {
      return "the engine runs programs of one's own out of place only";
    }
    if (inPlace && shape.test == Test::allToAll && options_.inPlacePrograms.empty() && shape.ranks > 1) {
      return "no in-place program was given";
    }
    if (inPlace && onGpus() && shape.test == Test::allToAll &&
        shape.sendElements() * shape.elementBytes() > kMostScratch) {
      return "in place the engine needs as much memory of its own as the buffer has, and this is more than it took";
    }
    return {};
  }

  void prepare(const Case& shape, bool inPlace, uint32_t concurrent) override {
    registered_ = concurrent;
    for (uint32_t which = 0; which < concurrent; ++which) {
      for (uint32_t r = 0; r < options_.ranks; ++r) registerOne(shape, inPlace, r, static_cast<int>(which));
    }
  }
  void release() override {
    for (uint32_t which = 0; which < registered_; ++which) {
      for (const dfcclRankCtx_t ctx : ctx_) check(dfcclUnregister(static_cast<int>(which), ctx));
    }
    registered_ = 0;
  }

  void enqueue(uint32_t rank, uint32_t which, const void* send, void* recv) override {
    for (;;) {
      const dfcclResult_t result = dfcclRun(send, recv, static_cast<int>(which), nullptr, nullptr, ctx_[rank]);
      if (result == dfcclSuccess) return;
      if (result != dfcclQueueFull) check(result);
      check(dfcclPoll(nullptr, ctx_[rank]));
    }
  }

  void complete(uint32_t firstRank, uint32_t count) override {
    if (options_.timeoutSeconds <= 0) return check(dfcclWaitAll(&ctx_[firstRank], static_cast<int>(count)));
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(options_.timeoutSeconds));
    for (uint32_t r = firstRank; r < firstRank + count; ++r) {
      const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now()).count();
      check(dfcclWaitFor(static_cast<uint64_t>(std::max<int64_t>(left, 1)), ctx_[r]));
    }
  }

  PerfCounters counters() override {
    PerfCounters sum;
    for (const dfcclRankCtx_t ctx : ctx_) {
      dfcclCounters_t c{};
      c.structSize = sizeof c;
      check(dfcclGetCounters(&c, ctx));
      sum.preemptions += c.preemptions;
      sum.quits += c.quits;
      sum.visits += c.visits;
      sum.stuckVisits += c.stuckVisits;
      sum.queueLengthSum += c.queueLengthSum;
      sum.queueLengthMaximum = std::max(sum.queueLengthMaximum, c.queueLengthMaximum);
      sum.memoryBytes += c.collectiveBytes;
    }
    return sum;
  }

 private:
  static void check(dfcclResult_t result) {
    if (result == dfcclSuccess) return;
    throw PerfError(result == dfcclTimeout ? Exit::timeout : Exit::internal, dfcclGetLastError());
  }

  static constexpr size_t kMostScratch = size_t{512} << 20;  // half of what a rank on a GPU takes at its start

  bool onGpus() const { return !options_.devices.empty(); }

  const RankPrograms& choiceOf(const Case& shape) const {
    if (shape.program > options_.choices.size() || options_.choices[shape.program - 1].size() != options_.ranks) {
      throw PerfError(Exit::invalidUsage, "A case names program " + std::to_string(shape.program) +
                                              ", which isn't there for these ranks: --programs FILE,FILE,…");
    }
    return options_.choices[shape.program - 1];
  }
  std::string refusalOfChoice(const Case& shape, bool inPlace) const {
    ProgramHeader header{};
    const std::vector<uint8_t>& bytes = choiceOf(shape).front();
    std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof header));
    if ((header.flags & (inPlace ? kInPlace : kOutOfPlace)) != 0) return {};
    return inPlace ? "the program can't run in place" : "the program can run in place only";
  }

  void registerOne(const Case& shape, bool inPlace, uint32_t rank, int id) {
    const auto type = static_cast<dfcclDataType_t>(shape.type);
    const auto op = static_cast<dfcclRedOp_t>(shape.op);
    const auto root = static_cast<int>(shape.root);
    const dfcclDevSet_t all = dfcclAllRanks();
    const dfcclRankCtx_t ctx = ctx_[rank];
    if (shape.program != 0) {
      const std::vector<uint8_t>& program = choiceOf(shape)[rank];
      return check(dfcclRegisterProgram(program.data(), program.size(), shape.count, type, op, id, all, 0, ctx));
    }
    const ProgramsByLanes& programs = inPlace ? options_.inPlacePrograms : options_.programs;
    if (!programs.empty()) {
      const uint64_t count = shape.test == Test::allToAllV ? shape.unit() : shape.count;
      const uint32_t lanes = options_.lanesFor(shape.count * shape.elementBytes());
      const std::vector<uint8_t>& program = choosePrograms(programs, lanes).at(rank);
      return check(dfcclRegisterProgram(program.data(), program.size(), count, type, op, id, all, 0, ctx));
    }
    switch (shape.test) {
      case Test::allReduce:
        return check(dfcclRegisterAllReduce(shape.count, type, op, id, all, 0, ctx));
      case Test::hypercube:
      case Test::allGather:
        return check(dfcclRegisterAllGather(shape.count, type, id, all, 0, ctx));
      case Test::reduceScatter:
        return check(dfcclRegisterReduceScatter(shape.count, type, op, id, all, 0, ctx));
      case Test::reduce:
        return check(dfcclRegisterReduce(shape.count, type, op, root, id, all, 0, ctx));
      case Test::broadcast:
        return check(dfcclRegisterBroadcast(shape.count, type, root, id, all, 0, ctx));
      case Test::allToAll:
        return check(dfcclRegisterAllToAll(shape.count, type, id, all, 0, ctx));
      case Test::gather:
        return check(dfcclRegisterGather(shape.count, type, root, id, all, 0, ctx));
      case Test::scatter:
        return check(dfcclRegisterScatter(shape.count, type, root, id, all, 0, ctx));
      case Test::allToAllV:
      case Test::sendRecv:
        if (shape.ranks == 1) return check(dfcclRegisterAllToAll(shape.count, type, id, all, 0, ctx));
        throw PerfError(Exit::invalidUsage,
                        std::string(kTestNames[static_cast<size_t>(shape.test)]) + " needs a program: --program FILE.");
    }
  }

  Options options_;
  dfcclWorld_t world_ = nullptr;
  std::vector<dfcclRankCtx_t> ctx_;
  uint32_t registered_ = 0;
};

}  // namespace dfccl::bench
