#pragma once
// An all-reduce executed by the interpreter alone: no queues, no task queue, no contexts to load, no completions. What
// the engine adds to it is the overhead.
#include <numeric>
#include <vector>

#include "allreduce/tensors.hpp"
#include "cpu/cpu_world.hpp"
#include "world/defaults.hpp"

namespace dfccl::bench {

inline WorldOptions worldOptions(uint32_t ranks) {
  WorldOptions options;
  options.ranks = ranks;
  options.workers = 0;
  options.policy = defaultPolicy(BackendKind::cpu);
  return options;
}

inline CollectiveSpec allReduceSpec(uint32_t id, uint32_t ranks, uint64_t bytes) {
  CollectiveSpec spec;
  spec.id = id;
  spec.count = bytes / sizeof(float);
  spec.ranks.resize(ranks);
  std::iota(spec.ranks.begin(), spec.ranks.end(), 0u);
  return spec;
}

class BareLoop {
 public:
  BareLoop(uint32_t ranks, uint64_t bytes)
      : world_(worldOptions(ranks)), runs_(ranks), addresses_(ranks), contexts_(ranks) {
    for (uint32_t r = 0; r < ranks; ++r) {
      const uint32_t index = world_.registerCollective(r, allReduceSpec(1, ranks, bytes));
      collectives_.push_back(&world_.rank(r).memory().collectives[index]);
      in_.emplace_back(bytes);
      out_.emplace_back(bytes);
      in_.back().fill(r);
    }
  }

  void run() {
    const auto ranks = static_cast<uint32_t>(collectives_.size());
    for (uint32_t r = 0; r < ranks; ++r) {
      addresses_[r] = {
          run_, reinterpret_cast<uint64_t>(in_[r].data.get()), reinterpret_cast<uint64_t>(out_[r].data.get()), 0, 0, 0};
      contexts_[r] = DynamicContext{};
    }
    uint32_t running = ranks;
    while (running != 0) {
      for (uint32_t r = 0; r < ranks; ++r) {
        CollectiveRecord& c = *collectives_[r];
        if (c.finishedRuns.load(order::relaxed) > run_) continue;
        int64_t budget = CpuPlatform<>::kStepBudgetBytes;
        bool progressed = false;
        if (Interpreter<CpuPlatform<>>(platform_, c, c, addresses_[r], runs_[r], 0, contexts_[r])
                .advance(budget, progressed) == Outcome::completed) {
          c.finishedRuns.store(run_ + 1, order::release);
          --running;
        }
      }
    }
    ++run_;
  }

  uint64_t wrong() const {
    uint64_t sum = 0;
    for (const Tensor& tensor : out_) sum += tensor.wrong(static_cast<uint32_t>(out_.size()));
    return sum;
  }

 private:
  CpuWorld world_;
  CpuPlatform<> platform_;
  std::vector<CollectiveRecord*> collectives_;
  std::vector<RunRecord> runs_;
  std::vector<RunAddresses> addresses_;
  std::vector<DynamicContext> contexts_;
  std::vector<Tensor> in_, out_;
  uint64_t run_ = 0;
};

}  // namespace dfccl::bench
