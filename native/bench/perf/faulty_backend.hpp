#pragma once
// A library that is wrong on purpose: what the data check must catch, and a rank that stops in the middle.
#include <csignal>
#include <cstring>
#include <vector>

#include "perf/plan.hpp"

namespace dfccl::bench {

/// Wraps a backend. One rank's result has a bit flipped or two halves swapped; or its input is not what it gave.
class FaultyBackend : public Backend {
 public:
  FaultyBackend(Backend& real, Fault fault) : real_(real), fault_(fault) {}

  const char* name() const override { return real_.name(); }
  std::string version() const override { return real_.version(); }
  uint32_t ranks() const override { return real_.ranks(); }
  uint32_t firstRank() const override { return real_.firstRank(); }
  uint32_t localRanks() const override { return real_.localRanks(); }
  std::string refusal(const Case& shape, bool inPlace) const override { return real_.refusal(shape, inPlace); }
  bool copiesOwnPart() const override { return real_.copiesOwnPart(); }
  PerfCounters counters() override { return real_.counters(); }
  void barrier() override { real_.barrier(); }
  double combine(double mine, Average average) override { return real_.combine(mine, average); }
  uint64_t sum(uint64_t mine) override { return real_.sum(mine); }

  void prepare(const Case& shape, bool inPlace, uint32_t concurrent) override {
    shape_ = shape;
    nothing_.assign(shape.sendElements() * shape.elementBytes(), 0);
    real_.prepare(shape, inPlace, concurrent);
  }
  void release() override { real_.release(); }

  void enqueue(uint32_t rank, uint32_t which, const void* send, void* recv) override {
    if (rank != fault_.rank) return real_.enqueue(rank, which, send, recv);
    if (fault_.kind == FaultKind::die && ++begun_ > kRunsBeforeDeath) {
      // A process of its own ends; a rank among others in one process just never comes again.
      if (localRanks() != ranks()) std::raise(SIGKILL);
      return;
    }
    if (fault_.kind == FaultKind::missing && send != recv) send = nothing_.data();
    recv_ = recv;
    real_.enqueue(rank, which, send, recv);
  }
  void complete(uint32_t firstRank, uint32_t count) override {
    real_.complete(firstRank, count);
    if (recv_ == nullptr || fault_.rank < firstRank || fault_.rank >= firstRank + count) return;
    const size_t bytes = shape_.recvElements() * shape_.elementBytes();
    auto* result = static_cast<char*>(recv_);
    if (fault_.kind == FaultKind::flip && bytes != 0) result[bytes / 3] = static_cast<char>(result[bytes / 3] ^ 4);
    if (fault_.kind == FaultKind::swap) std::swap_ranges(result, result + bytes / 2, result + bytes - bytes / 2);
    recv_ = nullptr;
  }

 private:
  static constexpr uint32_t kRunsBeforeDeath = 3;
  Backend& real_;
  Fault fault_;
  Case shape_;
  std::vector<char> nothing_;
  void* recv_ = nullptr;
  uint32_t begun_ = 0;
};

}  // namespace dfccl::bench
