#pragma once
// A library that is wrong on purpose: what the data check must catch, and a rank that stops in the middle.
#include <algorithm>
#include <csignal>
#include <memory>
#include <vector>

#include "perf/buffers.hpp"
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
  Memory& memory() override { return real_.memory(); }
  void attachThread(uint32_t firstRank) override { real_.attachThread(firstRank); }
  void openGroup(uint32_t operations) override { real_.openGroup(operations); }
  void closeGroup(uint32_t operations) override { real_.closeGroup(operations); }
  bool copiesOwnPart() const override { return real_.copiesOwnPart(); }
  bool isExact(const Case& shape) const override { return real_.isExact(shape); }
  PerfCounters counters() override { return real_.counters(); }
  void barrier() override { real_.barrier(); }
  double combine(double mine, Average average) override { return real_.combine(mine, average); }
  uint64_t sum(uint64_t mine) override { return real_.sum(mine); }
  uint64_t ofFirst(uint64_t mine) override { return real_.ofFirst(mine); }

  void prepare(const Case& shape, bool inPlace, uint32_t concurrent) override {
    shape_ = shape;
    if (fault_.kind == FaultKind::missing) {
      const size_t bytes = shape.sendElements() * shape.elementBytes();
      nothing_ = std::make_unique<Buffer>(memory(), fault_.rank, bytes);
      memory().clear(fault_.rank, nothing_->at(0), bytes);
    }
    real_.prepare(shape, inPlace, concurrent);
  }
  void release() override {
    real_.release();
    nothing_.reset();
  }

  void enqueue(uint32_t rank, uint32_t which, const void* send, void* recv) override {
    if (rank != fault_.rank) return real_.enqueue(rank, which, send, recv);
    if (fault_.kind == FaultKind::die && ++begun_ > kRunsBeforeDeath) {
      // A process of its own ends; a rank among others in one process just never comes again.
      if (localRanks() != ranks()) std::raise(SIGKILL);
      return;
    }
    if (fault_.kind == FaultKind::missing && send != recv) send = nothing_->at(0);
    recv_ = recv;
    real_.enqueue(rank, which, send, recv);
  }
  void complete(uint32_t firstRank, uint32_t count) override {
    real_.complete(firstRank, count);
    if (recv_ == nullptr || fault_.rank < firstRank || fault_.rank >= firstRank + count) return;
    const size_t bytes = shape_.recvElements() * shape_.elementBytes();
    std::vector<char> result(bytes);
    memory().read(fault_.rank, result.data(), recv_, bytes);
    if (fault_.kind == FaultKind::flip && bytes != 0) result[bytes / 3] = static_cast<char>(result[bytes / 3] ^ 4);
    const auto half = static_cast<ptrdiff_t>(bytes / 2);
    if (fault_.kind == FaultKind::swap) std::swap_ranges(result.begin(), result.begin() + half, result.end() - half);
    memory().write(fault_.rank, recv_, result.data(), bytes);
    recv_ = nullptr;
  }

 private:
  static constexpr uint32_t kRunsBeforeDeath = 3;
  Backend& real_;
  Fault fault_;
  Case shape_;
  std::unique_ptr<Buffer> nothing_;  // an input that isn't what the rank gave
  void* recv_ = nullptr;
  uint32_t begun_ = 0;
};

}  // namespace dfccl::bench
