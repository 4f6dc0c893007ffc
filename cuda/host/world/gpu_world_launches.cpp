// A world's runs that are kernels in their streams (decision 47).
#include <algorithm>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "host/driver/stream_memory.hpp"
#include "host/world/gpu_world.hpp"
#include "host/world/launch_order.hpp"

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
      const std::lock_guard lock(member->launching());
      constexpr uint32_t kFirst[] = {0};
      launchKernel(kFirst, nullptr);
      finish();
    } else if (!runs_.empty()) {
      LaunchOrder order = orderOfRuns();
      if (order.mostSharers() > kMostCapturedRuns) refuseSharedStream();
      const Lock lock(runs_);
      launchAll(order);
      finish();
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
  };

  /// Of each collective's launches, that there is one order of them among all threads.
  class Lock {
   public:
    explicit Lock(const std::vector<Run>& runs) {
      members_.reserve(runs.size());
      for (const Run& run : runs) members_.push_back(run.member);
      std::sort(members_.begin(), members_.end());
      members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
      for (const auto& member : members_) member->launching().lock();
    }
    ~Lock() {
      for (const auto& member : members_) member->launching().unlock();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    std::vector<std::shared_ptr<CapturedMember>> members_;
  };

  static void end(Run& run) { run.rank->queues().inStreams().ended(run.told); }

  LaunchOrder orderOfRuns() const {
    std::vector<LaunchOrder::Entry> entries;
    entries.reserve(runs_.size());
    for (const Run& run : runs_) {
      entries.push_back({run.member.get(), run.member->key(), run.rank->device(), run.streamId});
    }
    return {std::move(entries), kMostCapturedRuns};
  }

  [[noreturn]] static void refuseSharedStream() {
    throw Error(dfcclUnavailable,
                "More than " + std::to_string(kMostCapturedRuns) +
                    " ranks of a group share a stream, in which they would wait for each other.",
                "Give each rank a stream of its own.");
  }

  void launchAll(LaunchOrder& order) noexcept {
    while (order.hasNext()) {
      const LaunchOrder::Next next = order.next();
      const Run& first = runs_[next.run];
      const auto room = first.rank->takeRoom({first.streamId, next.fewest, next.wanted});
      launchKernel(order.take(room ? room->runs : next.fewest), room);
    }
  }

  /// What can't be launched ends, and the rank is lost: its peers would wait for ever.
  void launchKernel(std::span<const uint32_t> which, const std::shared_ptr<const void>& room) noexcept {
    try {
      launch(which, room);
    } catch (const std::exception& error) {
      for (const uint32_t i : which) runs_[i].rank->lose(error.what());
    }
  }
  void finish() {
    runs_.clear();
    world_.bell_.ring();
  }

  /// @throws Error dfcclSystemError, and they are ended
  void launch(std::span<const uint32_t> which, const std::shared_ptr<const void>& room) {
    CapturedRun kernels[kMostCapturedRuns];
    size_t prepared = 0;
    try {
      const Run& first = runs_[which.front()];
      const OnDevice here(first.rank->device());
      for (; prepared < which.size(); ++prepared) kernels[prepared] = prepare(runs_[which[prepared]]);
      // Before they are: nobody may wait until the device is idle meanwhile, see DeviceWaits::tryWhileNobodyWaits().
      for (size_t i = 0; i < which.size(); ++i) {
        const Run& run = runs_[which[i]];
        run.rank->queues().inStreams().launched(runs_[which[i]].told, kernels[i].numberInStreams, room);
      }
      first.rank->launchInStream(kernels, static_cast<uint32_t>(which.size()), first.stream);
    } catch (...) {
      // From behind, as it has to be where a collective has several.
      for (; prepared != 0; --prepared) runs_[which[prepared - 1]].member->forgoLaunch();
      for (size_t i = which.size(); i != 0; --i) Launches::end(runs_[which[i - 1]]);
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
