#include "host/rank/gpu_rank.hpp"

#include <algorithm>
#include <new>

#include "device/retractable_wait.cuh"
#include "host/driver/own_thread.hpp"
#include "host/driver/process_end.hpp"
#include "os/pause.hpp"
#include "os/tick_clock.hpp"

namespace dfccl::gpu {
namespace {

// How long the thread that starts daemons looks for work after the last, before it sleeps: a wake costs 10 us or more.
constexpr double kSpinMicros = 1000;
// A stream that comes to its run wakes nobody, so while one is awaited the thread looks for it, later at intervals.
constexpr double kAwaitSpinMicros = 20'000;
constexpr uint64_t kAwaitNapMicros = 50;
// A fault on the device ends the daemon without a word, and asking CUDA costs a microsecond.
constexpr double kFaultLookMicros = 2000;
// Where more runs were submitted than there are slots, a look for those that have become free goes through them all.
// This thread looks because it calls nothing of the user's: what a stream waits for may be among the runs that wait.
constexpr double kFlushMicros = 10;

uint64_t ticks(double micros) { return static_cast<uint64_t>(micros * ticksPerMicrosecond()); }

size_t pinnedBytes(const RankLimits& limits) {
  return SubmissionRing::bytes(limits.submissionSlots) + CompletionOwnedSlots<>::bytes(slotsMade(limits)) +
         RankStreams::pinnedBytes(limits) + RankRequests::kBytes + sizeof(Residency) + sizeof(ControlRing) +
         sizeof(StayReport) + sizeof(RankCounters) + limits.grid * sizeof(BlockCounters) +
         limits.collectives * sizeof(PostedProgress) + 2048;
}

void checkLimits(const RankLimits& limits) {
  const struct {
    const char* field;
    uint32_t value, most;
  } fields[] = {{"grid", limits.grid, kMaxGrid},
                {"completionSlots", limits.completionSlots, kMostSharedSlots},
                {"collectives", limits.collectives, kMostCollectives},
                {"programBlocks", limits.tasks, kMostTasks}};
  for (const auto& [field, value, most] : fields) {
    if (value <= most) continue;
    throw Error(dfcclInvalidArgument,
                std::string("A GPU rank has room for ") + std::to_string(most) + " " + field + ", not for " +
                    std::to_string(value) + ".",
                "Open the world with smaller limits.", {{"field", field}, {"value", std::to_string(value)}});
  }
}

}  // namespace

GpuRank::GpuRank(uint32_t number, int device, const GpuRankOptions& options, Bell& bell)
    : number_(number),
      options_((checkLimits(options.limits), options)),
      waits_(DeviceWaits::of(device)),
      place_(*waits_),
      arena_(device, options.arenaBytes),
      pinned_(pinnedBytes(options.limits)),
      control_(*new (pinned_.take(sizeof(ControlRing))) ControlRing{}),
      requests_(
          pinned_, control_, [&bell] { bell.wake(); }, [this] { return isOver(); }),
      streams_(arena_, pinned_, options.limits, *waits_, place_.number()),
      places_(options.limits.collectives, options.limits.tasks),
      bell_(bell) {
  const OnDevice here(device);
  const RankLimits& limits = options.limits;
  auto& residency = *new (pinned_.take(sizeof(Residency))) Residency{};
  auto* counters = reinterpret_cast<RankCounters*>(arena_.allocate(sizeof(RankCounters)));
  memory_.reset(new RankMemory{.rank = number,
                               .limits = limits,
                               .policy = options.policy,
                               .residency = residency,
                               .control = control_,
                               .counters = *counters});
  RankMemory& m = *memory_;
  m.submissions =
      SubmissionRing::create(pinned_.take(SubmissionRing::bytes(limits.submissionSlots)), limits.submissionSlots);
  m.completions =
      CompletionOwnedSlots<>::create(pinned_.take(CompletionOwnedSlots<>::bytes(slotsMade(limits))), slotsMade(limits));
  const auto table = [&]<class T>(Array<T>& array, size_t count) {
    array = {reinterpret_cast<T*>(arena_.allocate(count * sizeof(T))), count};
  };
  table(m.runs, slotsMade(limits));
  table(m.partsAtEnd, slotsMade(limits));
  table(m.collectives, limits.collectives);
  table(m.contexts, limits.tasks);
  table(m.isActive, limits.tasks);
  table(m.blocks, limits.grid);
  std::vector<BlockMemory> blocks(limits.grid);
  for (BlockMemory& block : blocks) {
    table(block.savedQueue, kSharedTasks);
    table(block.takenRuns, slotsMade(limits));
    table(block.nextRun, slotsMade(limits));
    table(block.lastRun, limits.collectives);
  }
  arena_.write(m.blocks.data(), blocks.data(), blocks.size() * sizeof(BlockMemory));
  // The feed's header holds its shape, so it is made here and copied.
  const uint32_t capacity = feedCapacity(limits);
  const uint32_t readers = feedReaders(limits.grid);
  const size_t feedBytes = BlockFeed::bytes(capacity, readers);
  std::vector<std::max_align_t> feedImage(feedBytes / sizeof(std::max_align_t) + 8);
  void* image = feedImage.data();
  size_t space = feedImage.size() * sizeof(std::max_align_t);
  image = std::align(64, feedBytes, image, space);
  BlockFeed::create(image, capacity, readers);
  uint8_t* feed = arena_.allocate(feedBytes);
  arena_.write(feed, image, feedBytes);
  m.feed = {
      reinterpret_cast<LeaderBroadcastHeader*>(feed),
      reinterpret_cast<BroadcastCursor*>(feed + sizeof(LeaderBroadcastHeader)),
      reinterpret_cast<Plain<FeedEntry>*>(feed + sizeof(LeaderBroadcastHeader) + readers * sizeof(BroadcastCursor)),
      capacity, readers};
  m.pending = streams_.pending();
  m.waiting = streams_.waiting();
  m.posted = {reinterpret_cast<PostedProgress*>(pinned_.take(limits.collectives * sizeof(PostedProgress))),
              limits.collectives};
  deviceMemory_ = arena_.put(memory_.get(), 1);
  arguments_.memory = deviceMemory_;
  arguments_.gate = reinterpret_cast<DaemonGate*>(arena_.allocate(sizeof(DaemonGate)));
  arguments_.report = report_ = new (pinned_.take(sizeof(StayReport))) StayReport{};
  knownWindows_ = reinterpret_cast<KnownWindows*>(arena_.allocate(sizeof(KnownWindows)));
  arguments_.staging = arena_.allocate(size_t{limits.grid} * 2 * kStagingBytes);
  arguments_.dropped = arena_.allocate(size_t{limits.grid} * kMostCollectives);
  arguments_.kept = reinterpret_cast<KeptTasks*>(arena_.allocate(limits.grid * sizeof(KeptTasks)));
  const std::vector<KeptTasks> nothing(limits.grid);
  arena_.write(arguments_.kept, nothing.data(), nothing.size() * sizeof(KeptTasks));
  arguments_.feedLines = reinterpret_cast<FeedLine*>(arena_.allocate(capacity * sizeof(FeedLine)));
  arguments_.traces = reinterpret_cast<TraceRing*>(arena_.allocate((size_t{limits.grid} + 1) * sizeof(TraceRing)));
  arguments_.watchdogNanos = options.watchdogNanos;
  posted_.rank = reinterpret_cast<RankCounters*>(pinned_.take(sizeof(RankCounters)));
  posted_.blocks = reinterpret_cast<BlockCounters*>(pinned_.take(limits.grid * sizeof(BlockCounters)));
  arguments_.posted = posted_;

  queues_ = std::make_unique<RankQueues>(m, nullptr, [&bell] { bell.ring(); });
  // Higher than the default's, so that a daemon gets its few blocks before a compute kernel's many.
  int least = 0, greatest = 0;
  DFCCL_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  DFCCL_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
  DFCCL_CUDA(cudaEventCreateWithFlags(&probe_, cudaEventDisableTiming));
  loadKernels();
  held_.add(HeldMembers::makeNotes());
  arena_.seal(requests_);
  ProcessEnd::watch();
  keeper_ = std::thread([this] { keep(); });
  // Only now: what fails above leaves nobody to look at.
  waits_->enter(*this);
  isOpen_.store(1, order::seqCst);
}

/// Under lazy loading the first launch of a kernel may wait until the device is idle: so each is launched here, where
/// nothing waits for it.
void GpuRank::loadKernels() {
  DFCCL_CUDA(prepareDaemon());
  DFCCL_CUDA(prepareCapturedRuns(stream_));
  DFCCL_CUDA(prepareRetractableWaits(stream_));
  launch(0);
  if (isLost()) throw Error(dfcclSystemError, lostBecause_ + ".", "Run `dfccl doctor`.", {});
  DFCCL_CUDA(cudaStreamSynchronize(stream_));
}

GpuRank::~GpuRank() {
  stop();
  if (held_.sweep()) arena_.abandon();
  waits_->leave(*this);
  cudaEventDestroy(probe_);
  cudaStreamDestroy(stream_);
}

void GpuRank::stop() {
  stopping_.store(1, order::seqCst);
  streams_.letDaemonLeave();
  bell_.wake();
  if (keeper_.joinable()) keeper_.join();
  // Whoever gives a stream a wait launches daemons of all ranks: those that he has begun to launch.
  { const std::lock_guard lock(launching_); }
  int former = 0;
  cudaGetDevice(&former);
  cudaSetDevice(device());
  cudaStreamSynchronize(stream_);  // the stay is bounded, and the watchdog bounds it again
  streams_.letStreamsGo(stream_);
  held_.end(stream_);
  cudaStreamSynchronize(stream_);
  cudaSetDevice(former);
}

void GpuRank::leave() {
  while (isThere() && !isLost()) cpuPause();
}

bool GpuRank::needsStart() const {
  return Residency::hasUnseen(memory_->submissions) ||
         report_->submissionsTaken.load(order::relaxed) != report_->completionsPosted.load(order::relaxed) ||
         requests_.areLeft() || streams_.hasArrivals() || report_->hasMoreArrivals.load(order::relaxed) != 0;
}

void GpuRank::lose(const std::string& reason) {
  const std::lock_guard lock(losing_);
  if (isLost()) return;
  lostBecause_ = reason;
  isLost_.store(1, order::seqCst);  // and only then who waits is looked for, see waitOnStream()
}

void GpuRank::lookForFaults() {
  const ProcessEnd::Call call;
  if (!call.isAllowed()) return;
  const cudaError_t error = cudaStreamQuery(stream_);
  if (error == cudaErrorNotReady) return;
  if (error != cudaSuccess) return lose(std::string("CUDA reports: ") + cudaGetErrorString(error));
}

// A thread of its own: while another one is in cudaFree, a launch on that device may block for milliseconds.
void GpuRank::keep() {
  if (!beginOwnThread("dfccl keeper", device())) return;
  uint64_t idleSince = readTicks();
  uint64_t lastLook = idleSince;
  uint64_t lastFlush = idleSince;
  while (stopping_.load(order::relaxed) == 0 && !isLost() && !ProcessEnd::isNear()) {
    const uint32_t seen = bell_.seen();
    const uint64_t stays = memory_->residency.stays();
    const auto mustWake = [&] {
      return needsStart() || memory_->residency.hasStayedSince(stays) || stopping_.load(order::seqCst) != 0;
    };
    if (readTicks() - lastFlush > ticks(kFlushMicros)) {
      queues_->flush();
      lastFlush = readTicks();
    }
    if (isThere()) {
      cpuPause();
      idleSince = readTicks();
      if (idleSince - lastLook < ticks(kFaultLookMicros)) continue;
      lastLook = idleSince;
      lookForFaults();
    } else if (memory_->residency.exited.load(order::acquire) != 0) {
      lose("its daemon made no progress for so long that the watchdog ended it");
    } else if (needsStart()) {
      const ProcessEnd::Call call;
      if (call.isAllowed()) launch(0);
      lastLook = readTicks();
    } else if (readTicks() - idleSince < ticks(streams_.isAwaited() ? kAwaitSpinMicros : kSpinMicros)) {
      cpuPause();
    } else if (streams_.isAwaited()) {
      bell_.sleep(seen, kAwaitNapMicros, mustWake);
    } else {
      bell_.sleep(seen, 0, mustWake);
      idleSince = readTicks();
    }
  }
  const ProcessEnd::Call call;
  if (!isLost() || !call.isAllowed()) return;
  // What lets streams go stands behind the daemon, which may be one that stays for them.
  streams_.letDaemonLeave();
  streams_.letStreamsGo(stream_);
}

}  // namespace dfccl::gpu
