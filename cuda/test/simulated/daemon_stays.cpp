// The daemon's kernel where there is no GPU: a stay is a thread that steps all blocks in turn, over the memory that the
// host has prepared for a device.
#include "simulated/daemon_stays.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cpu/cpu_platform.hpp"
#include "device/arrive.cuh"
#include "device/daemon_kernel.cuh"
#include "dfccl/daemon/leader.hpp"
#include "dfccl/daemon/named_mailboxes.hpp"
#include "dfccl/daemon/turn_round.hpp"

namespace dfccl::gpu {
namespace {

/// What a stay has besides the rank's memory.
struct Stay {
  const LaunchArguments* launch;
  std::vector<std::vector<QueueEntry>> queues;  // [block]
  uint32_t left = 0;
};
thread_local Stay* stay = nullptr;

/// The CPU's platform with what is peculiar to a GPU's host side: members without common memory, images of collectives,
/// aborts that every block is told of.
class SimulatedPlatform : public CpuPlatform<> {
 public:
  static constexpr uint32_t kContextSlots = kNearContexts;
  static constexpr bool kRunsTogether = false;
  static constexpr bool kTriesAtOnce = true;
  static constexpr uint32_t kRoundTurns = 3;
  static constexpr bool kSpreads = true;
  static constexpr uint64_t kTogetherBytes = 0;

  class BlockView {
   public:
    BlockView(RankMemory& memory, uint32_t index)
        : memory_(memory), block_(memory.blocks[index]), queue_(stay->queues[index]) {}
    RankMemory& rank() const { return memory_; }
    BlockMemory& block() const { return block_; }
    BlockCounters& counters() const { return block_.counters; }
    QueueEntry& queued(uint32_t position) const { return queue_[position]; }
    uint32_t queueCapacity() const { return kSharedTasks; }
    void closeGap(uint32_t position, uint32_t length) {
      for (uint32_t i = position; i + 1 < length; ++i) queue_[i] = queue_[i + 1];
    }
    void growQueue() { std::abort(); }
    uint8_t& isActive(uint32_t task) const { return memory_.isActive[task]; }
    uint32_t& nextRun(uint32_t slot) const { return block_.nextRun[slot]; }
    uint32_t& lastRun(uint32_t collective) const { return block_.lastRun[collective]; }

   private:
    RankMemory& memory_;
    BlockMemory& block_;
    std::vector<QueueEntry>& queue_;
  };

  /// In the device's memory, so that they last from one stay to the next.
  class TaskPlaces {
   public:
    static constexpr bool kLasts = true;
    TaskPlaces(const RankMemory&, uint32_t block) : kept_(stay->launch->kept[block]) {}
    ContextSlot& context(uint32_t place) { return kept_.contexts[place]; }
    PreparedPart& prepared(uint32_t place) { return kept_.prepared[place]; }

   private:
    KeptTasks& kept_;
  };

  uint64_t now() const {
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
  }

  static bool isAborted(const RankMemory&, uint32_t block, uint32_t collective) {
    return stay->launch->dropped[size_t{block} * kMostCollectives + collective] != 0;
  }
  static void acknowledgeAbort(RankMemory& memory, uint32_t block, CollectiveRecord& collective) {
    stay->launch->dropped[size_t{block} * kMostCollectives + collective.index] = 1;
    CpuPlatform::acknowledgeAbort(memory, block, collective);
  }

  static const CollectiveRecord* nearView(uint32_t, const CollectiveRecord& record, const CollectiveRecord* previous,
                                          bool isStarted) {
    if (record.image == nullptr) return &record;
    auto* image = static_cast<CollectiveImage*>(const_cast<void*>(record.image));
    if (previous != &image->record && isStarted && image->places.windows != nullptr) {
      NamedMailboxes::recall(image->places, true);
    }
    return &image->record;
  }
  static uint32_t lookForMailboxes(const MeetingPlaces& places, uint64_t run, uint32_t known) {
    if (places.windows != nullptr) return NamedMailboxes::look(places, run, known, order::acquire, true);
    for (; known < places.members && places.mailboxes[known].carries(run); ++known) {
      const Mailbox& box = places.mailboxes[known];
      places.knownMailboxes[known].input.store(box.input.load(order::relaxed), order::relaxed);
      places.knownMailboxes[known].output.store(box.output.load(order::relaxed), order::relaxed);
    }
    return known;
  }
  void beginRound(ContextSlots<SimulatedPlatform>& slots, const TaskQueue<SimulatedPlatform>& tasks,
                  const RoundPositions& positions) {
    round_.begin(*this, slots, tasks, positions);
  }
  bool isRoundOver() const { return false; }
  const RoundTurn* endRound() { return round_.end(*this); }
  static void finishAccess(const MeetingPlaces& places) {
    for (uint32_t copy = 0; copy < places.copyCount; ++copy) {
      places.finishedAccessCopies[copy]->fetchAdd(1, order::acqRel);
    }
  }
  static void postCompletion(RankMemory& memory, uint32_t slot, uint64_t cqe, bool) {
    memory.completions.slots[slot].store(cqe, order::release);
    memory.counters.completionsPosted.value.fetchAdd(1, order::seqCst);
  }
  static void blockLeft(RankMemory&, uint32_t) { ++stay->left; }

 private:
  RoundInSequence<SimulatedPlatform> round_;
};

void run(const LaunchArguments& launch, uint32_t grid) {
  Stay mine{&launch, std::vector<std::vector<QueueEntry>>(grid, std::vector<QueueEntry>(kSharedTasks)), 0};
  stay = &mine;
  auto& memory = *const_cast<RankMemory*>(launch.memory);
  SimulatedPlatform platform;
  std::vector<std::unique_ptr<BlockDaemon<SimulatedPlatform>>> blocks;
  for (uint32_t b = 0; b < grid; ++b) {
    blocks.push_back(std::make_unique<BlockDaemon<SimulatedPlatform>>(memory, b));
    blocks.back()->enter();
  }
  Leader<SimulatedPlatform> leader(memory);
  leader.enter(platform.now());
  while (mine.left != grid) {
    BlockDaemon<SimulatedPlatform>& first = *blocks[0];
    bool any = false;
    if (first.isInside()) {
      const bool fetched = leader.fetch(platform, first);
      const bool progressed = first.step(platform);
      leader.decide(platform, first, fetched, progressed);
      any = fetched || progressed;
    }
    for (uint32_t b = 1; b < grid; ++b) any |= blocks[b]->isInside() && blocks[b]->step(platform);
    if (!any) std::this_thread::yield();
  }
  launch.report->submissionsTaken.store(memory.counters.submissionsTaken.read(), order::relaxed);
  launch.report->completionsPosted.store(memory.counters.completionsPosted.read(), order::relaxed);
  memory.residency.leave();
  stay = nullptr;
}

std::mutex mutex;
std::map<cudaStream_t, std::thread> stays;

}  // namespace

cudaError_t prepareDaemon() { return cudaSuccess; }
cudaError_t prepareArrive() { return cudaSuccess; }
cudaError_t launchArrive(const NoticeRing&, uint32_t, Atomic<uint64_t>*, cudaStream_t) { return cudaErrorNotSupported; }

cudaError_t launchDaemon(const LaunchArguments& arguments, uint32_t grid, cudaStream_t stream) {
  simulated::awaitStay(stream);
  const std::lock_guard lock(mutex);
  stays[stream] = std::thread([arguments, grid] { run(arguments, grid); });
  return cudaSuccess;
}

void simulated::awaitStay(cudaStream_t stream) {
  std::thread last;
  {
    const std::lock_guard lock(mutex);
    const auto found = stays.find(stream);
    if (found == stays.end()) return;
    last = std::move(found->second);
    stays.erase(found);
  }
  if (last.joinable()) last.join();
}

}  // namespace dfccl::gpu
