// A world's runs that are kernels in their streams (decision 47).
#include <algorithm>
#include <map>
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
    for (const Run& run : runs_) end(run);
  }

  bool add(uint32_t rank, uint32_t index, const void* send, void* recv, void* handle, RunCallback callback,
           void* argument, PlaceInStream* place) override {
    auto* const stream = static_cast<cudaStream_t>(handle);
    world_.checkHealth(rank);
    GpuRank& mine = *world_.ranks_[rank];
    Run run{&mine, stream, mine.idOfStream(stream), world_.launchedMember(rank, index), send, recv, place};
    runs_.reserve(runs_.size() + 1);
    mine.noteInStreams();
    run.index = index;
    run.slot = mine.queues().claim(index, callback, argument);
    if (run.slot == RankQueues::kFull) return false;
    runs_.push_back(std::move(run));
    return true;
  }

  void launch() override {
    if (runs_.empty()) return;
    if (runs_.size() == 1) {
      const std::shared_ptr<CapturedMember> member = runs_.front().member;
      const std::lock_guard order(member->launching());
      launchInOrder();
    } else {
      sort();
      const Order order(runs_);
      launchInOrder();
    }
  }

 private:
  void launchInOrder() {
    try {
      for (size_t begin = 0; begin < runs_.size();) begin = launchFrom(begin);
    } catch (...) {
      runs_.clear();
      throw;
    }
    runs_.clear();
    world_.bell_.ring();
  }

  struct Run {
    GpuRank* rank;
    cudaStream_t stream;
    uint64_t streamId;
    std::shared_ptr<CapturedMember> member;
    const void* send;
    void* recv;
    PlaceInStream* place;
    uint32_t turn = 0;  // how many of the same collective come before it
    uint32_t index = 0;
    uint32_t slot = 0;  // of its completion

    std::tuple<int, uint64_t, uint32_t> kernel() const { return {rank->device(), streamId, turn}; }
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

  static void end(const Run& run) { run.rank->queues().endClaimed(run.index, run.slot); }

  /// By what goes into the same kernel. More than one takes come one behind the other in their stream: those of one set
  /// in one order on all ranks, however they were added.
  void sort() {
    std::map<const CapturedMember*, uint32_t> before;
    for (Run& run : runs_) run.turn = before[run.member.get()]++;
    std::stable_sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) {
      return std::make_pair(a.kernel(), a.member->key()) < std::make_pair(b.kernel(), b.member->key());
    });
  }

  /// As many as go into the kernel of the run at `begin`. @return the first of the others. @throws Error, and none of
  /// them are left to be launched
  size_t launchFrom(size_t begin) {
    size_t next = begin;
    try {
      CapturedRun kernels[CapturedRuns::kMost];
      uint32_t count = 0;
      for (; next < runs_.size() && count < CapturedRuns::kMost && runs_[next].kernel() == runs_[begin].kernel();
           ++next) {
        kernels[count++] = prepare(runs_[next]);
      }
      runs_[begin].rank->launchInStream(kernels, count, runs_[begin].stream);
      return next;
    } catch (...) {
      for (size_t i = begin; i < runs_.size(); ++i) end(runs_[i]);
      throw;
    }
  }

  static CapturedRun prepare(const Run& run) {
    CapturedRun kernel = run.member->prepareLaunch(run.stream, run.streamId, run.send, run.recv);
    kernel.completion = run.index;
    kernel.completionWord = run.rank->queues().completionWord(run.slot);
    if (run.place != nullptr) *run.place = {run.streamId, kernel.numberInStreams};
    return kernel;
  }

  GpuWorld& world_;
  std::vector<Run> runs_;  // that have yet to be launched
};

std::unique_ptr<Backend::Launches> GpuWorld::beginLaunches() { return std::make_unique<Launches>(*this); }

/// It may have been given up: then its runs end as soon as their streams come to them.
std::shared_ptr<CapturedMember> GpuWorld::launchedMember(uint32_t rank, uint32_t index) {
  const std::lock_guard lock(mutex_);
  const Registered& entry = registered(rank, index);
  return entry.registration->memberHere(entry.member).captured();
}

void GpuWorld::waitForLaunched(uint32_t rank, uint32_t index, const PlaceInStream& place, void* handle) {
  auto* const stream = static_cast<cudaStream_t>(handle);
  const std::shared_ptr<CapturedMember> member = launchedMember(rank, index);
  const OnDevice here(ranks_[rank]->device());
  waitOnStreamFor(stream, member->overOnDevice(), place.number);
}

}  // namespace dfccl::gpu
