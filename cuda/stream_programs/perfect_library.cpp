#include "stream_programs/perfect_library.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include "stream_programs/draw.hpp"

namespace dfccl::gpu::programs {
namespace {

constexpr int kNobody = -1;

class Model {
 public:
  Model(const Program& program, const Shape& shape, uint64_t interleaving)
      : program_(program),
        shape_(shape),
        draw_(interleaving, 77),
        ranks_(shape.ranks),
        devices_(shape.meets ? 1 : shape.ranks),
        arrivals_(program.collectives.size(), std::vector<std::vector<bool>>(shape.ranks)),
        launches_(program.graphs.size()) {
    for (Rank& rank : ranks_) rank.submitted.resize(program.collectives.size());
  }

  bool ends() {
    std::vector<int> order(shape_.ranks);
    for (size_t r = 0; r < order.size(); ++r) order[r] = static_cast<int>(r);
    while (true) {
      draw_.shuffle(order);
      bool any = false;
      for (const int rank : order) {
        // Some are quick, some slow.
        for (size_t steps = draw_.below(6); steps-- != 0 && stepHost(rank);) any = true;
      }
      const bool isSlow = draw_.hits(60);
      for (Device& device : devices_) {
        if (!isSlow || draw_.hits(30)) any |= advance(device);
      }
      if (any) continue;
      for (const int rank : order) any |= stepHost(rank);
      for (Device& device : devices_) any |= advance(device);
      if (!any) break;
    }
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.hasEnded; });
  }

 private:
  struct Work {
    enum { isOther, isRun, isWait, isGraph } kind = isOther;
    int rank = 0, collective = 0;  // or the graph
    uint32_t run = 0;              // or how many runs are waited for
  };
  struct Device {
    std::deque<Work> queue;
    int lockedBy = kNobody;
  };
  struct Rank {
    size_t step = 0;
    uint32_t meetings = 0;
    bool isMeeting = false, hasMetAtEnd = false, hasEnded = false;
    std::vector<uint32_t> submitted;  // [collective]
  };

  Device& deviceOf(int rank) { return devices_[shape_.meets ? 0 : static_cast<size_t>(rank)]; }

  /// Ranks match an id's runs in order: one counts only behind those before it.
  uint32_t completed(int collective) const {
    const Collective& c = program_.collectives[static_cast<size_t>(collective)];
    uint32_t least = ~0u;
    for (const int rank : c.ranks) {
      const auto& arrived = arrivals_[static_cast<size_t>(collective)][static_cast<size_t>(rank)];
      const auto missing = std::find(arrived.begin(), arrived.end(), false);
      least = std::min(least, static_cast<uint32_t>(missing - arrived.begin()));
    }
    return least;
  }

  bool advance(Device& device) {
    bool any = false;
    while (!device.queue.empty()) {
      const Work& work = device.queue.front();
      if (work.kind == Work::isWait && completed(work.collective) < work.run) break;
      if (work.kind == Work::isGraph && !isLaunchOver(work)) break;
      if (work.kind == Work::isRun) arrive(work.rank, work.collective, work.run);
      device.queue.pop_front();
      any = true;
    }
    return any;
  }

  /// A launch that its stream has come to ends when all ranks have come to theirs.
  bool isLaunchOver(const Work& work) {
    auto& come = launches_[static_cast<size_t>(work.collective)];
    come.resize(shape_.ranks, 0);
    uint32_t& mine = come[static_cast<size_t>(work.rank)];
    mine = std::max(mine, work.run + 1);
    for (int rank = 0; rank < static_cast<int>(shape_.ranks); ++rank) {
      if (takesPart(program_, work.collective, rank) && come[static_cast<size_t>(rank)] <= work.run) return false;
    }
    return true;
  }

  void arrive(int rank, int collective, uint32_t run) {
    auto& arrived = arrivals_[static_cast<size_t>(collective)][static_cast<size_t>(rank)];
    if (arrived.size() <= run) arrived.resize(run + 1, false);
    arrived[run] = true;
  }

  bool isOverFor(const Rank& rank) const {
    for (size_t c = 0; c < rank.submitted.size(); ++c) {
      if (rank.submitted[c] != 0 && completed(static_cast<int>(c)) < rank.submitted[c]) return false;
    }
    return true;
  }

  /// All ranks have come as often as this one. @return whether it may go on
  bool meet(Rank& rank) {
    if (!rank.isMeeting) ++rank.meetings;
    rank.isMeeting = true;
    for (const Rank& other : ranks_) {
      if (other.meetings < rank.meetings) return false;
    }
    rank.isMeeting = false;
    return true;
  }

  /// As a call that holds the driver's lock until the device is idle.
  bool holdUntilIdle(int rank) {
    Device& device = deviceOf(rank);
    if (device.lockedBy != kNobody && device.lockedBy != rank) return false;
    device.lockedBy = device.queue.empty() ? kNobody : rank;
    return device.lockedBy == kNobody;
  }

  /// @return whether it came further
  bool stepHost(int number) {
    Rank& rank = ranks_[static_cast<size_t>(number)];
    if (rank.hasEnded) return false;
    const auto& steps = program_.steps[static_cast<size_t>(number)];
    if (rank.step == steps.size()) {
      if (!isOverFor(rank)) return false;
      if (program_.aborts && !rank.hasMetAtEnd && !(rank.hasMetAtEnd = meet(rank))) return false;
      rank.hasEnded = holdUntilIdle(number);
      return rank.hasEnded;
    }
    if (!perform(number, rank, steps[rank.step])) return false;
    ++rank.step;
    return true;
  }

  bool perform(int number, Rank& rank, const Step& step) {
    Device& device = deviceOf(number);
    const bool isLocked = device.lockedBy != kNobody && device.lockedBy != number;
    const auto at = static_cast<size_t>(step.collective);
    switch (step.action) {
      case Action::run:
        if (isLocked || (step.stream < 0 && !device.queue.empty())) return false;
        if (step.stream < 0) {
          arrive(number, step.collective, step.run);
        } else {
          device.queue.push_back({Work::isRun, number, step.collective, step.run});
        }
        rank.submitted[at] = std::max(rank.submitted[at], step.run + 1);
        return true;
      case Action::waitOnStream:
        if (isLocked) return false;
        device.queue.push_back({Work::isWait, number, step.collective, rank.submitted[at]});
        return true;
      case Action::launchGraph:
        if (isLocked) return false;
        device.queue.push_back({Work::isGraph, number, step.graph, step.run});
        return true;
      case Action::hostWait:
        return isOverFor(rank);
      case Action::meet:
        return meet(rank);
      case Action::module:
      case Action::free:
      case Action::hostFree:
      case Action::hostRegister:
      case Action::limit:
        return holdUntilIdle(number);
      case Action::synchronize:
      case Action::synchronizeAll:
        return !isLocked && device.queue.empty();
      default:
        if (isLocked) return false;
        device.queue.push_back({});
        return true;
    }
  }

  const Program& program_;
  const Shape& shape_;
  Draw draw_;
  std::vector<Rank> ranks_;
  std::vector<Device> devices_;
  std::vector<std::vector<std::vector<bool>>> arrivals_;  // [collective][rank][run]
  std::vector<std::vector<uint32_t>> launches_;           // [graph][rank]: come to by its stream
};

}  // namespace

bool endsWithPerfectLibrary(const Program& program, const Shape& shape, uint64_t interleaving) {
  return Model(program, shape, interleaving).ends();
}

}  // namespace dfccl::gpu::programs
