#pragma once
// The same all-reduce through submission, queue, daemon and completion, driven by one thread.
#include "overheads/bare_loop.hpp"

namespace dfccl::bench {

class WholeLoop {
 public:
  WholeLoop(uint32_t ranks, uint64_t bytes, uint32_t collectives = 1) : world_(worldOptions(ranks)) {
    for (uint32_t r = 0; r < ranks; ++r) {
      in_.emplace_back(bytes);
      out_.emplace_back(bytes);
      in_.back().fill(r);
      for (uint32_t c = 0; c < collectives; ++c) world_.registerCollective(r, allReduceSpec(c, ranks, bytes));
    }
  }

  CpuWorld& world() { return world_; }
  CpuRank& rank(uint32_t r) { return world_.rank(r); }
  uint32_t ranks() const { return static_cast<uint32_t>(in_.size()); }

  void submit(uint32_t r, uint32_t collective = 0) {
    rank(r).submit(
        collective, in_[r].data.get(), out_[r].data.get(), [](void*, dfcclResult_t) {}, nullptr);
  }
  void finish() {
    for (uint32_t r = 0; r < ranks(); ++r) {
      for (rank(r).deliver(); rank(r).inFlight() != 0; rank(r).deliver()) world_.drive();
    }
  }
  void run() {
    for (uint32_t r = 0; r < ranks(); ++r) submit(r);
    finish();
  }

  uint64_t wrong() const {
    uint64_t sum = 0;
    for (const Tensor& tensor : out_) sum += tensor.wrong(ranks());
    return sum;
  }

 private:
  CpuWorld world_;
  std::vector<Tensor> in_, out_;
};

}  // namespace dfccl::bench
