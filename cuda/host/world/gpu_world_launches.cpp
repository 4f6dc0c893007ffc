// A world's runs that are kernels in their streams (decision 47).
#include <algorithm>
#include <exception>
#include <map>
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
    PlaceInStream* place;
    RunsInStreams::Prepared told;
    uint32_t turn = 0;  // how many of the same collective come before it

    /// In the order of the turns: a collective's next run may be in another stream, which waits for this one.
    std::tuple<uint32_t, int, uint64_t> kernel() const { return {turn, rank->device(), streamId}; }
  };

  /// Of each collective's launches, among all threads.
  class Order {
   public:
    explicit Order(const std::vector<Run>& runs) {
      for (const Run& run : runs) members_.push_back(run.member);
      std::sort(members_.begin(), members_.end());
      members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
      for (const auto& member : members_) locks_.emplace_back(member->launching());
    }

   private:
    std::vector<std::shared_ptr<CapturedMember>> members_;
    std::vector<std::unique_lock<std::mutex>> locks_;
  };

  static void end(Run& run) { run.rank->queues().inStreams().ended(run.told); }

  /// By what goes into the same kernel. More than one takes come one behind the other in their stream: those of one set
  /// in one order on all ranks, however they were added.
  void sort() {
    std::map<const CapturedMember*, uint32_t> before;
    for (Run& run : runs_) run.turn = before[run.member.get()]++;
    std::stable_sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) {
      return std::make_pair(a.kernel(), a.member->key()) < std::make_pair(b.kernel(), b.member->key());
    });
    for (size_t begin = 0; begin < runs_.size(); begin = endOfCollective(begin)) {
      if (endOfCollective(begin) - begin > kMostCapturedRuns) refuseSharedStream();
    }
  }

  [[noreturn]] static void refuseSharedStream() {
    throw Error(dfcclUnavailable,
                "More than " + std::to_string(kMostCapturedRuns) +
                    " ranks of a group share a stream, in which they would wait for each other.",
                "Give each rank a stream of its own.");
  }

  /// Ranks that share a stream have their parts of a run in one kernel: they wait for each other.
  size_t endOfCollective(size_t begin) const {
    size_t end = begin;
    const auto isOfSame = [&](const Run& run) {
      return run.kernel() == runs_[begin].kernel() && run.member->key() == runs_[begin].member->key();
    };
    while (end < runs_.size() && isOfSame(runs_[end])) ++end;
    return end;
  }

  /// What can't be launched ends, and the rank is lost: its peers would wait for ever.
  void launchAll() noexcept {
    for (size_t begin = 0, end = 0; begin < runs_.size(); begin = end) {
      end = endOfKernel(begin, kMostCapturedRuns);
      try {
        const auto fewest = static_cast<uint32_t>(endOfCollective(begin) - begin);
        const auto room =
            runs_[begin].rank->takeRoom({runs_[begin].streamId, fewest, static_cast<uint32_t>(end - begin)});
        end = endOfKernel(begin, room ? room->runs : fewest);
        launch(begin, end, room);
      } catch (const std::exception& error) {
        for (size_t i = begin; i < end; ++i) runs_[i].rank->lose(error.what());
      }
    }
    runs_.clear();
    world_.bell_.ring();
  }

  /// @return the first of those behind `begin` that don't go into the same kernel, which has `most` runs unless those
  /// of one collective are more.
  size_t endOfKernel(size_t begin, size_t most) const {
    size_t end = begin;
    while (end < runs_.size() && runs_[end].kernel() == runs_[begin].kernel()) {
      const size_t next = endOfCollective(end);
      if (next - begin > most && end != begin) break;
      end = next;
    }
    return end;
  }

  /// @throws Error dfcclSystemError, and they are ended
  void launch(size_t begin, size_t end, const std::shared_ptr<const void>& room) {
    CapturedRun kernels[kMostCapturedRuns];
    size_t prepared = begin;
    try {
      const OnDevice here(runs_[begin].rank->device());
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
    if (run.place != nullptr) *run.place = {run.streamId, kernel.numberInStreams, !run.isAwaited};
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
