// The daemon's kernel where there is no GPU: a stay is a thread that steps all blocks in turn, over the memory that the
// host has prepared for a device.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "cpu/cpu_platform.hpp"
#include "daemon/loop/block_daemon.hpp"
#include "daemon/loop/leader.hpp"
#include "daemon/state/named_mailboxes.hpp"
#include "daemon/tasks/turn_round.hpp"
#include "device/daemon_kernel.cuh"
#include "simulated/current_device.hpp"
#include "simulated/device.hpp"
#include "simulated/modules.hpp"
#include "simulated/slices.hpp"
#include "simulated/unkindness.hpp"

namespace dfccl::gpu {
namespace {

/// What a stay has besides the rank's memory.
struct Stay {
  const LaunchArguments* launch;
  std::vector<std::vector<QueueEntry>> queues;  // [block]
  uint32_t left = 0;
  uint32_t block = 0;  // whose step it is
  uint32_t looks = 0;  // at lines
};
thread_local Stay* stay = nullptr;

uint64_t nanos() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

/// Counters, which the host may read meanwhile.
template <class Counters>
void copyWords(Counters* to, const Counters& from) {
  auto* const words = reinterpret_cast<Atomic<uint64_t>*>(to);
  const auto* const values = reinterpret_cast<const Atomic<uint64_t>*>(&from);
  for (size_t i = 0; i < sizeof from / sizeof *words; ++i)
    words[i].store(values[i].load(order::relaxed), order::relaxed);
}

void write(TraceRing& ring, TracePoint point, uint64_t value) {
  ring.events[ring.count++ % kTraceEvents] = {nanos(), static_cast<uint8_t>(point) | value << 8};
}

/// Of all collectives, as the device's polling warp does now and then.
void post(const RankMemory& memory) {
  for (uint32_t i = 0; i < memory.collectives.size(); ++i) {
    if (memory.collectives[i].registrationNumber != 0) memory.posted[i].post(memory.collectives[i]);
  }
  const PostedCounters& posted = stay->launch->posted;
  copyWords(posted.rank, memory.counters);
  for (uint32_t b = 0; b < memory.blocks.size(); ++b) copyWords(&posted.blocks[b], memory.blocks[b].counters);
}

/// The CPU's platform with what is peculiar to a GPU's host side: members without common memory, images of collectives,
/// aborts that every block is told of.
template <class RulesType>
class SimulatedPlatform : public CpuPlatform<RulesType> {
 public:
  static constexpr bool kHasStreams = true;
  static constexpr uint32_t kContextSlots = kNearContexts;
  static constexpr bool kRunsTogether = false;
  static constexpr bool kCountsPerRun = false;
  static constexpr bool kHasRings = false;
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

  uint64_t now() const { return nanos(); }
  static void mark(TracePoint point, uint64_t value) { write(stay->launch->traces[stay->block], point, value); }

  static bool isAborted(const RankMemory&, uint32_t block, uint32_t collective) {
    return stay->launch->dropped[size_t{block} * kMostCollectives + collective] != 0;
  }
  static void acknowledgeAbort(RankMemory& memory, uint32_t block, CollectiveRecord& collective) {
    stay->launch->dropped[size_t{block} * kMostCollectives + collective.index] = 1;
    CpuPlatform<RulesType>::acknowledgeAbort(memory, block, collective);
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
    mark(TracePoint::completionPosted, slot);
    memory.waiting.completed[static_cast<uint32_t>(cqe)].fetchAdd(1, order::acqRel);
    memory.counters.completionsPosted.value.fetchAdd(1, order::seqCst);
  }
  static uint32_t arrivals(const RankMemory&) { return ++stay->looks; }
  static bool hasArrivals(const RankMemory& memory) { return memory.pending.hasArrivals(); }
  static bool isAnybodyWaiting(const RankMemory& memory) {
    const WaitingMemory& waiting = memory.waiting;
    if (waiting.mustLeave->load(order::relaxed) != 0) return false;
    const bool areIntents = waiting.device->intents.load(order::seqCst) != 0;
    return stay->launch->gate->intents.isPatient(areIntents, nanos()) ||
           waiting.isAnyAwaited(stay->launch->awaitedTable);
  }
  static void willLeave(const RankMemory&) { stay->launch->report->leaving.store(1, order::seqCst); }
  static void stayedOn(const RankMemory&, uint64_t now) {
    stay->launch->report->leaving.store(0, order::seqCst);
    stay->launch->gate->stayedOnAt.store(now, order::relaxed);
  }

  static constexpr bool kIsRemote = true;
  static void carryOut(const RankMemory&, const ControlRequest& request) {
    auto* const to = reinterpret_cast<void*>(request.to);
    if (request.kind == ControlRequest::clear) {
      std::memset(to, 0, request.bytes);
    } else {
      std::memcpy(to, reinterpret_cast<const void*>(request.from), request.bytes);
    }
  }
  static void forgetPlace(RankMemory&, uint32_t block, uint32_t collective) {
    stay->launch->dropped[size_t{block} * kMostCollectives + collective] = 0;
  }
  static void blockLeft(RankMemory&, uint32_t) {
    mark(TracePoint::left, nanos());
    ++stay->left;
  }

 private:
  RoundInSequence<SimulatedPlatform> round_;
};
static_assert(Platform<SimulatedPlatform<AllRules>>);

/// A stay that goes on for too long: the host gives the rank up.
bool isWatchdogDue(const LaunchArguments& launch, uint64_t startedAt, uint64_t now) {
  const uint64_t since = std::max(startedAt, launch.gate->stayedOnAt.load(order::relaxed));
  return now > since && now - since > launch.watchdogNanos;
}

template <class Rules>
void run(const LaunchArguments& launch, uint32_t grid) {
  using Stepping = SimulatedPlatform<Rules>;
  auto& memory = *const_cast<RankMemory*>(launch.memory);
  StayReport& report = *launch.report;
  if (launch.isSuccessor != 0) {
    if (memory.residency.exited.load(order::seqCst) != 0) return;
    report.leaving.store(0, order::seqCst);
    memory.residency.enter();
  }
  report.entered.store(launch.stay, order::seqCst);
  Stay mine{&launch, std::vector<std::vector<QueueEntry>>(grid, std::vector<QueueEntry>(kSharedTasks))};
  stay = &mine;
  Stepping platform;
  std::vector<std::unique_ptr<BlockDaemon<Stepping>>> blocks;
  const uint64_t startedAt = platform.now();
  for (uint32_t b = 0; b < grid; ++b) {
    mine.block = b;
    Stepping::mark(TracePoint::entered, startedAt);
    blocks.push_back(std::make_unique<BlockDaemon<Stepping>>(memory, b));
    blocks.back()->enter();
  }
  Leader<Stepping> leader(memory);
  leader.enter(startedAt);
  constexpr uint32_t kRoundsPerPost = 256;
  uint32_t rounds = 0;
  while (mine.left != grid) {
    simulated::step();
    BlockDaemon<Stepping>& first = *blocks[0];
    bool any = false;
    mine.block = 0;
    if (++rounds % kRoundsPerPost == 0) post(memory);
    if (first.isInside()) {
      const bool fetched = leader.fetch(platform, first);
      const bool progressed = first.step(platform);
      leader.decide(platform, first, fetched, progressed);
      any = fetched || progressed;
    }
    for (uint32_t b = 1; b < grid; ++b) {
      mine.block = b;
      any |= blocks[b]->isInside() && blocks[b]->step(platform);
    }
    if (any) continue;
    if (isWatchdogDue(launch, startedAt, platform.now() - simulated::pausedNanos())) {
      memory.residency.exited.store(1, order::seqCst);
      break;
    }
    std::this_thread::yield();
  }
  post(memory);
  report.submissionsTaken.store(memory.counters.submissionsTaken.read(), order::relaxed);
  report.completionsPosted.store(memory.counters.completionsPosted.read(), order::relaxed);
  report.hasMoreArrivals.store(memory.pending.hasArrivals(), order::relaxed);
  memory.residency.leave();
  stay = nullptr;
}

/// The control: as if nobody waited.
struct LeavesStreams : AllRules {
  static constexpr bool staysForStreams = false;
};

/// A thread of the library's that starts daemons waits for the driver while it has to.
void keepKeeper() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  if (std::strcmp(name, "dfccl keeper") != 0) return;
  while (simulated::unkindness().stoppedKeepers.isOn()) std::this_thread::yield();
}

}  // namespace

cudaError_t prepareDaemon() { return simulated::loadModule(simulated::kEngineModule); }

cudaError_t launchDaemon(const LaunchArguments& arguments, uint32_t grid, cudaStream_t handle) {
  keepKeeper();
  simulated::Stream& stream = simulated::Device::streamOf(handle, simulated::currentDevice);
  const bool leaves = std::getenv("SIMULATED_LEAVES") != nullptr;
  simulated::Device& device = simulated::Device::at(stream.device());
  device.daemonLaunched();
  const auto daemon = [=, &device] {
    device.multiprocessors().take(grid);
    leaves ? run<LeavesStreams>(arguments, grid) : run<AllRules>(arguments, grid);
    device.daemonLeft();
    device.multiprocessors().giveBack(grid);
  };
  const cudaError_t error = device.launch(stream, daemon);
  if (error != cudaSuccess) device.daemonLeft();
  return error;
}

}  // namespace dfccl::gpu
