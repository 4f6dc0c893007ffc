#include "host/rank/device_waits.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>

#include "host/driver/hardware_queues.hpp"
#include "host/rank/gpu_rank.hpp"
#include "os/pause.hpp"
#include "os/tick_clock.hpp"

namespace dfccl::gpu {
namespace {

// Left to whatever else is on the device.
constexpr uint32_t kOthersMultiprocessors = 4;
// Daemons that nobody relies on leave within milliseconds. Where they don't, streams wait for them already, and
// successors are launched. Counted since a run was last over.
constexpr double kMostDoubtMicros = 50'000;
// Where there are as many successors as may be. If there is a barrier, what those streams wait for was given to them
// before it, so it completes when the peers come to it. If there is none, all streams of the probe may be in queues of
// CUDA's behind streams that wait, maybe for what this very caller is to submit.
constexpr double kMostWaitMicros = 2'000'000;
// As above, where fewer streams were ever given a wait than there are queues: only streams that wait for events of
// theirs could have filled those. A peer that saves a checkpoint, or is being debugged, is the likelier reason by far.
constexpr double kMostLatenessMicros = 60'000'000;
// The first launch of a kernel takes 20 us and more.
constexpr double kMostAwayMicros = 8;

// With two or three, chains of two ranks hang on simulated devices; with two, one on an H200 did not end.
constexpr uint32_t kFewestQueues = 4;

}  // namespace

std::shared_ptr<DeviceWaits> DeviceWaits::of(int device) {
  static std::mutex mutex;
  // Never destroyed: when a process ends, CUDA may be gone before its static objects are.
  static auto& all = *new std::map<int, std::shared_ptr<DeviceWaits>>();
  const std::lock_guard lock(mutex);
  std::shared_ptr<DeviceWaits>& found = all[device];
  if (!found) found = std::make_shared<DeviceWaits>(device);
  return found;
}

DeviceWaits::DeviceWaits(int device)
    : device_(device),
      pinned_(sizeof(DeviceAwaited) + 256),
      awaited_(*new (pinned_.take(sizeof(DeviceAwaited))) DeviceAwaited{}),
      probe_(device) {
  const OnDevice here(device);
  DFCCL_CUDA(cudaMalloc(reinterpret_cast<void**>(&ranks_), DeviceAwaited::kMostRanks * sizeof *ranks_));
  int count = 0;
  DFCCL_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  multiprocessors_ = static_cast<uint32_t>(count);
}

const char* DeviceWaits::obstacle() const {
  if (queues_ < kFewestQueues) {
    return "CUDA_DEVICE_MAX_CONNECTIONS puts all streams into fewer than four queues, where one that waits holds up "
           "others";
  }
  const std::shared_lock lock(mutex_);
  if (present_.size() > DeviceAwaited::kMostRanks) return "this process has more than 16 ranks on the device";
  // Where not all daemons fit on the device at once, one that has to stay may keep out another.
  const bool doFit = present_.size() == 1 || blocksOfDaemons() + kOthersMultiprocessors <= multiprocessors_;
  return doFit ? nullptr : "the daemons of this process's ranks on the device don't fit on it together";
}

uint32_t DeviceWaits::roomForRuns() const {
  const std::shared_lock lock(mutex_);
  return multiprocessors_ - std::min(multiprocessors_, blocksOfDaemons() + kOthersMultiprocessors);
}

/// Of which each hardware queue has a run's.
uint32_t DeviceWaits::roomBesideQueues() const {
  const uint32_t room = roomForRuns();
  return room - std::min(room, queues_);
}

/// Under mutex_.
uint32_t DeviceWaits::blocksOfDaemons() const {
  uint32_t blocks = 0;
  for (const GpuRank* rank : present_) blocks += rank->limits().grid;
  return blocks;
}

// What has to be launched is launched before anybody must stay for this wait, because a launch may have to wait until
// the device is idle: the explorer's control startsWhileItKeeps hangs. And a daemon is relied on only if streams go on
// beside it: one that they wait for must go before it has to stay.
void DeviceWaits::begin() {
  Doubt doubt(readTicks(), runsOver());
  for (;;) {
    const uint64_t before = stays_.load(order::seqCst);
    uint32_t started = 0;
    bool isAnyLate = false;
    for (GpuRank* rank : present_) {
      const GpuRank::Start start = rank->startIfOut();
      started += start == GpuRank::Start::atOnce;
      isAnyLate |= start == GpuRank::Start::late;
    }
    const uint64_t stays = stays_.load(order::seqCst);
    // Whatever this thread has loaded came before what it has launched.
    const bool areOwn =
        !isAnyLate && stays == before + started && (started == present_.size() || known().stays == before);
    const Answer answer = askBeside(stays, areOwn, doubt);
    if (answer == Answer::others) continue;
    if (answer == Answer::unknown && launchSuccessors()) {
      doubt = {readTicks(), runsOver()};
      continue;
    }
    isUnanswered_.store(answer == Answer::unknown, order::relaxed);
    awaited_.intents.fetchAdd(1, order::seqCst);
    if (areStill(stays)) {
      known().stays = stays;
      return;
    }
    end();
  }
}

/// Whether what this thread gives to streams now goes on beside the daemons that are there, as many as have been
/// launched by now. Others: there are others by now. Where none of it is seen in time, nobody knows.
DeviceWaits::Answer DeviceWaits::askBeside(uint64_t stays, bool areOwn, Doubt& doubt) {
  if (areOwn || known().stays == stays || BarrierProbe::isLeftOut()) return Answer::goesOn;
  // Daemons that nobody relies on leave soon, and a barrier with them.
  for (BarrierProbe::Question question(probe_); !question.isAnswered(); cpuPause()) {
    if (stays_.load(order::seqCst) != stays || worst() == Daemons::out) return Answer::others;
    if (doubt.isLongerThan(mostDoubt(), readTicks(), runsOver())) return Answer::unknown;
  }
  return Answer::goesOn;
}

/// Behind whatever keeps back what streams are given now, if anything does: so they begin when that has passed, and can
/// be relied on. Those before them stay for what was awaited until now. @return false: there are too many already.
bool DeviceWaits::launchSuccessors() {
  if (isSucceeding_.exchange(1, order::seqCst) != 0) return true;  // another thread does it: see what comes of it
  const bool mayLaunch = mayLaunchSuccessors();
  if (mayLaunch) {
    const uint64_t before = stays_.load(order::seqCst);
    const uint32_t next = generation() + 1;
    uint32_t started = 0;
    for (GpuRank* rank : present_) started += rank->startSuccessor(next) != GpuRank::Start::none;
    {
      const std::lock_guard lock(awaiting_);
      awaited_.copy(table(), next % DeviceAwaited::kTables);
      generation_.store(next, order::seqCst);
    }
    const uint64_t stays = stays_.load(order::seqCst);
    if (stays == before + started) known().stays = stays;
  }
  isSucceeding_.store(0, order::seqCst);
  return mayLaunch;
}

/// In ticks.
uint64_t DeviceWaits::mostDoubt() const {
  double micros = kMostDoubtMicros;
  if (!mayLaunchSuccessors() && isUnanswered_.load(order::relaxed) == 0) {
    const bool mayFillQueues = streams_.count() >= std::min(hardwareQueues(), BarrierProbe::kStreams);
    micros = mayFillQueues ? kMostWaitMicros : kMostLatenessMicros;
  }
  return static_cast<uint64_t>(micros * ticksPerMicrosecond());
}

/// Whether there is a table left for them.
bool DeviceWaits::mayLaunchSuccessors() const {
  return std::all_of(present_.begin(), present_.end(),
                     [](const GpuRank* rank) { return rank->launchesAhead() + 2 <= DeviceAwaited::kTables; });
}

/// As far as their daemons have posted it. Under mutex_.
uint64_t DeviceWaits::runsOver() const {
  uint64_t sum = 0;
  for (const GpuRank* rank : present_) sum += rank->runsPosted();
  return sum;
}

/// Whether the daemons are inside that were when so many had been launched, and stay for whoever has said that he needs
/// them.
bool DeviceWaits::areStill(uint64_t stays) const {
  Daemons daemons = worst();
  while (daemons == Daemons::leaving) {
    cpuPause();
    daemons = worst();
  }
  return daemons == Daemons::inside && stays_.load(order::seqCst) == stays;
}

bool DeviceWaits::letWait(uint32_t place, uint32_t index, uint32_t target, cudaStream_t stream, bool isFree,
                          const std::function<void(WaitNote*)>& give) {
  const std::shared_lock lock(mutex_);
  streams_.add(stream);
  if (!isFree) return letBlockingWait(place, index, target, give);
  // A caller may be kept from going on for longer than daemons have patience with an intent. One that is launched
  // behind the wait may come behind it in a hardware queue and never begin, so all stay before the stream has it.
  do {
    begin();
  } while (!awaitBesideDaemons(place, index, target));
  give(nullptr);
  return true;
}

bool DeviceWaits::tryWhileNobodyWaits(const std::function<void()>& call) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  const auto isOver = [](const GpuRank* rank) { return rank->isAllOver(); };
  if (!lock || !std::all_of(present_.begin(), present_.end(), isOver)) return false;
  call();
  return true;
}

/// Lets the daemons that a thread has found inside stay for a wait. Ends the intent.
/// @return false: they aren't there any more, and nobody stays for it, which could keep out what must be launched.
bool DeviceWaits::awaitBesideDaemons(uint32_t place, uint32_t index, uint32_t target) {
  const uint64_t stays = known().stays;
  const std::lock_guard lock(awaiting_);
  const uint32_t before = awaitedOf(place, index);
  await(place, index, target);
  end();
  if (areStill(stays)) return true;
  awaited_.awaited[table()][place][index].store(before, order::seqCst);
  return false;
}

/// A stream that synchronizes with the default one is given a wait only under the driver's lock. A daemon that stayed
/// for that would keep whoever has the lock waiting, and he the caller, so it stays only once the stream has the wait.
/// Where the daemon has left by then, the wait is taken back: it may keep back whatever is launched now.
bool DeviceWaits::letBlockingWait(uint32_t place, uint32_t index, uint32_t target,
                                  const std::function<void(WaitNote*)>& give) {
  for (;;) {
    begin();
    WaitNote* const note = notes_.take();
    if (note == nullptr) {
      end();
      return false;
    }
    try {
      give(note);
    } catch (...) {
      note->isOver.store(1, order::release);
      end();
      throw;
    }
    if (awaitBesideDaemons(place, index, target)) return true;
    note->isRetracted.store(1, order::seqCst);
  }
}

DeviceWaits::Known& DeviceWaits::known() const {
  thread_local std::map<const DeviceWaits*, Known> known;
  return known[this];
}

DeviceWaits::Call::Call(DeviceWaits& waits) : waits_(waits) {
  Known& known = waits.known();
  const auto most = static_cast<uint64_t>(kMostAwayMicros * ticksPerMicrosecond());
  if (readTicks() - known.leftAt > most) known.stays = ~uint64_t{0};
}

DeviceWaits::Call::~Call() { waits_.known().leftAt = readTicks(); }

/// Under awaiting_.
void DeviceWaits::await(uint32_t place, uint32_t index, uint32_t target) {
  awaited_.raise(table(), place, index, target);
}

DeviceWaits::Daemons DeviceWaits::worst() const {
  auto worst = Daemons::inside;
  for (const GpuRank* rank : present_) {
    if (rank->isOut()) return Daemons::out;
    if (rank->isLeaving()) worst = Daemons::leaving;
  }
  return worst;
}

}  // namespace dfccl::gpu
