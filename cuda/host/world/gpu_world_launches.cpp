// A world's runs that are kernels in their streams (decision 47).
#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "host/driver/stream_memory.hpp"
#include "host/world/gpu_world.hpp"

namespace dfccl::gpu {

class GpuWorld::Launches final : public Backend::Launches {
 public:
  explicit Launches(GpuWorld& world) : world_(world) {}
  /// What was never launched is given up.
  ~Launches() override {
    if (runs_.empty()) return;
    for (Run& run : runs_) end(run);
    world_.bell_.ring();
  }

  void add(uint32_t rank, uint32_t index, const Backend::Launches::Run& run, const Told& to,
           PlaceInStream* place) override {
    auto* const stream = static_cast<cudaStream_t>(run.stream);
    world_.checkHealth(rank);
    GpuRank& mine = *world_.ranks_[rank];
    const uint64_t streamId = mine.idOfStream(stream);
    const auto [member, shape] = world_.launched(rank, index);
    CapturedBuffers buffers{run.send, run.recv, {}};
    if (member->isLarge()) buffers.windows = world_.windowsOf(rank, shape, run.send, run.recv);
    RunsInStreams::Prepared told(member->source(), member->hold(), {index, to.callback, to.argument});
    runs_.push_back({&mine, stream, streamId, member, buffers, !run.isForItsStream, place, std::move(told)});
    mine.queues().noteInStream(index);
  }

  void launch() override {
    if (runs_.size() == 1) {
      const std::shared_ptr<CapturedMember> member = runs_.front().member;
      const std::lock_guard order(member->launching());
      launchAll();
    } else if (!runs_.empty()) {
      sort();
      const Order order(runs_);
      launchAll();
    }
  }

 private:
  struct Run {
    GpuRank* rank;
    cudaStream_t stream;
    uint64_t streamId;
    std::shared_ptr<CapturedMember> member;
    CapturedBuffers buffers;
    bool isAwaited;  // see CapturedRun
    PlaceInStream* to;
    RunsInStreams::Prepared told;
    uint32_t occurrence = 0;  // among those of its member
    uint32_t turn = 0;        // how often the collective has changed its streams before it

    /// In the order of the turns: a collective's next run may be in another stream, which waits for this one.
    std::tuple<uint32_t, int, uint64_t> kernel() const { return {turn, rank->device(), streamId}; }
    /// Ranks that share a stream have their parts of a collective's run in one kernel: they wait for each other.
    std::tuple<uint32_t, int, uint64_t, CollectiveId, uint32_t> step() const {
      return std::tuple_cat(kernel(), std::make_tuple(member->key(), occurrence));
    }
    /// Within its kernel.
    std::tuple<CollectiveId, const CapturedMember*, uint32_t> place() const {
      return {member->key(), member.get(), occurrence};
    }
  };

  /// Of each collective's launches, among all threads.
  class Order {
   public:
    explicit Order(const std::vector<Run>& runs) {
      members_.reserve(runs.size());
      for (const Run& run : runs) members_.push_back(run.member);
      std::sort(members_.begin(), members_.end());
      members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
      for (const auto& member : members_) member->launching().lock();
    }
    ~Order() {
      for (const auto& member : members_) member->launching().unlock();
    }
    Order(const Order&) = delete;
    Order& operator=(const Order&) = delete;

   private:
    std::vector<std::shared_ptr<CapturedMember>> members_;
  };

  static void end(Run& run) { run.rank->queues().inStreams().ended(run.told); }

  /// By what goes into the same kernel. More than one takes come one behind the other in their stream: those of one set
  /// in one order on all ranks, however they were added.
  void sort() {
    if (!areOfDistinctMembers()) countTurns();
    const auto isBefore = [](const Run& a, const Run& b) { return a.step() < b.step(); };
    if (!std::is_sorted(runs_.begin(), runs_.end(), isBefore)) std::sort(runs_.begin(), runs_.end(), isBefore);
    for (size_t begin = 0; begin < runs_.size(); begin = endOfStep(begin)) {
      if (endOfStep(begin) - begin > kMostCapturedRuns) refuseSharedStream();
    }
  }

  bool areOfDistinctMembers() const {
    for (size_t i = 1; i < runs_.size(); ++i) {
      for (size_t before = 0; before < i; ++before) {
        if (runs_[before].member == runs_[i].member) return false;
      }
    }
    return true;
  }

  /// Where any rank of a collective goes on in another stream, they all go on in another kernel.
  void countTurns() {
    struct Before {
      uint32_t runs = 0;
      uint64_t streamId = 0;
    };
    std::map<const CapturedMember*, Before> before;
    std::map<CollectiveId, std::set<uint32_t>> changes;  // which of its runs is the first behind each
    for (Run& run : runs_) {
      Before& mine = before[run.member.get()];
      if (mine.runs != 0 && mine.streamId != run.streamId) changes[run.member->key()].insert(mine.runs);
      run.occurrence = mine.runs++;
      mine.streamId = run.streamId;
    }
    for (Run& run : runs_) {
      const std::set<uint32_t>& ofCollective = changes[run.member->key()];
      run.turn = static_cast<uint32_t>(std::distance(ofCollective.begin(), ofCollective.upper_bound(run.occurrence)));
    }
  }

  [[noreturn]] static void refuseSharedStream() {
    throw Error(dfcclUnavailable,
                "More than " + std::to_string(kMostCapturedRuns) +
                    " ranks of a group share a stream, in which they would wait for each other.",
                "Give each rank a stream of its own.");
  }

  size_t endOfStep(size_t begin) const {
    size_t end = begin;
    while (end < runs_.size() && runs_[end].step() == runs_[begin].step()) ++end;
    return end;
  }

  /// What can't be launched ends, and the rank is lost: its peers would wait for ever.
  void launchAll() noexcept {
    for (size_t begin = 0, end = 0; begin < runs_.size(); begin = end) {
      end = endOfKernel(begin, kMostCapturedRuns);
      try {
        const auto fewest = static_cast<uint32_t>(endOfStep(begin) - begin);
        const auto room = runs_[begin].rank->takeRoom({runs_[begin].streamId, fewest, membersOf(begin, begin, end)});
        end = endOfKernel(begin, room ? room->runs : fewest);
        launch(begin, end, room);
      } catch (const std::exception& error) {
        for (size_t i = begin; i < end; ++i) runs_[i].rank->lose(error.what());
      }
    }
    runs_.clear();
    world_.bell_.ring();
  }

  /// @return the first of those behind `begin` that don't go into the same kernel, which has room for so many members
  /// at once: for those of its first step always.
  size_t endOfKernel(size_t begin, uint32_t mostMembers) const {
    size_t end = endOfStep(begin);
    uint32_t members = membersOf(begin, begin, end);
    while (end < runs_.size() && runs_[end].kernel() == runs_[begin].kernel()) {
      const size_t next = endOfStep(end);
      members += membersOf(begin, end, next);
      if (next - begin > kMostCapturedRuns || members > mostMembers) break;
      end = next;
    }
    return end;
  }

  /// @return how many have runs between `from` and `end`, and none between `begin` and `from`.
  uint32_t membersOf(size_t begin, size_t from, size_t end) const {
    uint32_t members = 0;
    for (size_t i = from; i < end; ++i) {
      size_t before = i;
      while (before > begin && runs_[before - 1].member->key() == runs_[i].member->key() &&
             runs_[before - 1].member != runs_[i].member) {
        --before;
      }
      members += before == begin || runs_[before - 1].member->key() != runs_[i].member->key();
    }
    return members;
  }

  /// @throws Error dfcclSystemError, and they are ended
  void launch(size_t begin, size_t end, const std::shared_ptr<const void>& room) {
    CapturedRun kernels[kMostCapturedRuns];
    size_t prepared = begin;
    try {
      const OnDevice here(runs_[begin].rank->device());
      // A member's one after the other, and the members in the collectives' order.
      const auto at = [&](size_t i) { return runs_.begin() + static_cast<std::ptrdiff_t>(i); };
      const auto isBefore = [](const Run& a, const Run& b) { return a.place() < b.place(); };
      if (!std::is_sorted(at(begin), at(end), isBefore)) std::sort(at(begin), at(end), isBefore);
      for (; prepared < end; ++prepared) kernels[prepared - begin] = prepare(runs_[prepared]);
      // Before they are: nobody may wait until the device is idle meanwhile, see DeviceWaits::tryWhileNobodyWaits().
      for (size_t i = begin; i < end; ++i) {
        runs_[i].rank->queues().inStreams().launched(runs_[i].told, kernels[i - begin].numberInStreams, room);
      }
      runs_[begin].rank->launchInStream(kernels, static_cast<uint32_t>(end - begin), runs_[begin].stream);
    } catch (...) {
      for (; prepared > begin; --prepared) runs_[prepared - 1].member->forgoLaunch();
      for (size_t i = begin; i < end; ++i) Launches::end(runs_[i]);
      throw;
    }
  }

  static CapturedRun prepare(const Run& run) {
    const CapturedRun kernel = run.member->prepareLaunch(run.stream, run.streamId, run.buffers, run.isAwaited);
    if (run.to != nullptr) *run.to = {run.streamId, kernel.numberInStreams, !run.isAwaited};
    return kernel;
  }

  GpuWorld& world_;
  std::vector<Run> runs_;  // that have yet to be launched
};

std::unique_ptr<Backend::Launches> GpuWorld::beginLaunches() { return std::make_unique<Launches>(*this); }

/// It may have been given up: then its runs end as soon as their streams come to them.
GpuWorld::Launched GpuWorld::launched(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const Registered& entry = registered(rank, index);
  return {entry.registration->memberHere(entry.member).captured(), entry.shape};
}

void GpuWorld::waitForLaunched(uint32_t rank, uint32_t index, const PlaceInStream& place, void* handle) {
  auto* const stream = static_cast<cudaStream_t>(handle);
  const std::shared_ptr<CapturedMember> member = launched(rank, index).member;
  const OnDevice here(ranks_[rank]->device());
  waitOnStreamFor(stream, member->overOnDevice(), static_cast<uint32_t>(place.number));
}

}  // namespace dfccl::gpu
