#include "host/gpu_rank.hpp"

#include <chrono>
#include <new>

#include "cpu/pause.hpp"

namespace dfccl::gpu {
namespace {

constexpr uint32_t kOwner = 1;  // of the queue's lock: all threads that submit here

size_t pinnedBytes(const RankLimits& limits) {
  return SubmissionRing::bytes(limits.submissionSlots) + CompletionOwnedSlots<>::bytes(limits.completionSlots) +
         sizeof(Residency) + sizeof(ControlRing) + sizeof(StayReport) + 1024;
}

void checkLimits(const RankLimits& limits) {
  const struct {
    const char* field;
    uint32_t value, most;
  } fields[] = {{"grid", limits.grid, kMaxGrid},
                {"completionSlots", limits.completionSlots, kMostRuns},
                {"collectives", limits.collectives, kMostCollectives},
                {"tasks", limits.tasks, kMostTasks}};
  for (const auto& [field, value, most] : fields) {
    if (value <= most) continue;
    throw Error(dfcclInvalidArgument,
                std::string("A GPU rank has room for ") + std::to_string(most) + " " + field + ", not for " +
                    std::to_string(value) + ".",
                "Open the world with smaller limits.", {{"field", field}, {"value", std::to_string(value)}});
  }
}

}  // namespace

GpuRank::GpuRank(uint32_t number, int device, const GpuRankOptions& options)
    : number_(number),
      options_(options),
      arena_(device, options.arenaBytes),
      pinned_(pinnedBytes(options.limits)),
      tasks_(options.limits.tasks) {
  const OnDevice here(device);
  const RankLimits& limits = options.limits;
  checkLimits(limits);
  auto& residency = *new (pinned_.take(sizeof(Residency))) Residency{};
  auto& control = *new (pinned_.take(sizeof(ControlRing))) ControlRing{};
  auto* counters = reinterpret_cast<RankCounters*>(arena_.allocate(sizeof(RankCounters)));
  memory_.reset(new RankMemory{.rank = number,
                               .limits = limits,
                               .policy = options.policy,
                               .residency = residency,
                               .control = control,
                               .counters = *counters});
  RankMemory& m = *memory_;
  m.submissions =
      SubmissionRing::create(pinned_.take(SubmissionRing::bytes(limits.submissionSlots)), limits.submissionSlots);
  m.completions = CompletionOwnedSlots<>::create(pinned_.take(CompletionOwnedSlots<>::bytes(limits.completionSlots)),
                                                 limits.completionSlots);
  const auto table = [&]<class T>(Array<T>& array, size_t count) {
    array = {reinterpret_cast<T*>(arena_.allocate(count * sizeof(T))), count};
  };
  table(m.runs, limits.completionSlots);
  table(m.collectives, limits.collectives);
  table(m.contexts, limits.tasks);
  table(m.isActive, limits.tasks);
  table(m.blocks, limits.grid);
  std::vector<BlockMemory> blocks(limits.grid);
  for (BlockMemory& block : blocks) {
    table(block.savedQueue, kSharedTasks);
    table(block.nextRun, limits.completionSlots);
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
  deviceMemory_ = arena_.put(memory_.get(), 1);
  arguments_.memory = deviceMemory_;
  arguments_.gate = reinterpret_cast<DaemonGate*>(arena_.allocate(sizeof(DaemonGate)));
  arguments_.report = report_ = new (pinned_.take(sizeof(StayReport))) StayReport{};
  arguments_.staging = arena_.allocate(size_t{limits.grid} * 2 * kStagingBytes);
  arguments_.dropped = arena_.allocate(size_t{limits.grid} * kMostCollectives);
  arguments_.feedLines = reinterpret_cast<FeedLine*>(arena_.allocate(capacity * sizeof(FeedLine)));
  arguments_.traces = reinterpret_cast<TraceRing*>(arena_.allocate((size_t{limits.grid} + 1) * sizeof(TraceRing)));
  arguments_.watchdogNanos = options.watchdogNanos;

  producer_ = std::make_unique<EngineSubmissionProducer>(m.submissions, kOwner);
  claimer_ = std::make_unique<CompletionOwnedSlots<>::Claimer>(m.completions);
  poller_ = std::make_unique<CompletionOwnedSlots<>::Poller>(m.completions);
  // Higher than the default's, so that a daemon gets its few blocks before a compute kernel's many.
  int least = 0, greatest = 0;
  DFCCL_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  DFCCL_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
  DFCCL_CUDA(prepareDaemon());
  keeper_ = std::thread([this] { keep(); });
}

GpuRank::~GpuRank() {
  stopping_.store(1, order::seqCst);
  keeper_.join();
  int former = 0;
  cudaGetDevice(&former);
  cudaSetDevice(device());
  cudaStreamSynchronize(stream_);  // the stay is bounded, and the watchdog bounds it again
  cudaStreamDestroy(stream_);
  cudaSetDevice(former);
}

uint32_t GpuRank::submit(uint32_t index, const void* send, void* recv) {
  Reserve reserved;
  while ((reserved = producer_->tryReserve(1)) == Reserve::busy) cpuPause();
  if (reserved == Reserve::full) return kFull;
  const uint32_t slot = claimer_->tryClaim();
  if (slot == kNoCompletionSlot) {
    producer_->publish(0);
    return kFull;
  }
  issued_.store(issued_.load(order::relaxed) + 1, order::release);
  Sqe sqe{};
  sqe.id = index;
  sqe.completionSlot = slot;
  sqe.sendAddress = reinterpret_cast<uint64_t>(send);
  sqe.recvAddress = reinterpret_cast<uint64_t>(recv);
  producer_->write(0, sqe);
  producer_->publish(1);
  return slot;
}

bool GpuRank::takeCompletion(uint32_t slot, dfcclResult_t& status) {
  Atomic<uint64_t>& word = memory_->completions.slots[slot];
  const uint64_t cqe = word.load(order::acquire);
  if (cqe == 0) return false;
  while (pollLock_.exchange(1, order::acquire) != 0) cpuPause();
  word.store(0, order::relaxed);
  poller_->free(slot);
  taken_.store(taken_.load(order::relaxed) + 1, order::release);
  pollLock_.store(0, order::release);
  status = static_cast<CqeStatus>((cqe >> 32) & 0xffff) == CqeStatus::completed ? dfcclSuccess : dfcclAborted;
  return true;
}

bool GpuRank::needsStart() const {
  return Residency::hasUnseen(memory_->submissions) ||
         report_->submissionsTaken.load(order::relaxed) != report_->completionsPosted.load(order::relaxed) ||
         memory_->control.tail.load(order::acquire) != memory_->control.head.load(order::acquire);
}

void GpuRank::launch() {
  memory_->residency.enter();
  launches_.store(launches_.load(order::relaxed) + 1, order::relaxed);
  memory_->residency.launches.store(launches_.load(order::relaxed), order::relaxed);
  if (launchDaemon(arguments_, options_.limits.grid, stream_) != cudaSuccess) isLost_.store(1, order::release);
}

// A thread of its own: while another one is in cudaFree, a launch on that device may block for milliseconds.
void GpuRank::keep() {
  cudaSetDevice(device());
  while (stopping_.load(order::relaxed) == 0 && !isLost()) {
    if (memory_->residency.isResident()) {
      cpuPause();
    } else if (memory_->residency.exited.load(order::acquire) != 0) {
      isLost_.store(1, order::release);
    } else if (needsStart()) {
      launch();
    } else {
      cpuPause();
    }
    // A fault on the device ends the daemon without a word.
    if ((launches_.load(order::relaxed) & 0xff) == 0xff && cudaStreamQuery(stream_) > cudaErrorNotReady) {
      isLost_.store(1, order::release);
    }
  }
}

std::vector<BlockCounters> GpuRank::readCounters() {
  std::vector<BlockMemory> blocks(options_.limits.grid);
  arena_.read(blocks.data(), memory_->blocks.data(), blocks.size() * sizeof(BlockMemory));
  std::vector<BlockCounters> counters;
  for (const BlockMemory& block : blocks) counters.push_back(block.counters);
  return counters;
}

std::vector<uint32_t> GpuRank::readSavedLengths() {
  std::vector<BlockMemory> blocks(options_.limits.grid);
  arena_.read(blocks.data(), memory_->blocks.data(), blocks.size() * sizeof(BlockMemory));
  std::vector<uint32_t> lengths;
  for (const BlockMemory& block : blocks) lengths.push_back(block.savedLength);
  return lengths;
}

std::vector<TraceRing> GpuRank::readTraces() {
  std::vector<TraceRing> rings(options_.limits.grid + 1);
  arena_.read(rings.data(), arguments_.traces, rings.size() * sizeof(TraceRing));
  return rings;
}

}  // namespace dfccl::gpu
