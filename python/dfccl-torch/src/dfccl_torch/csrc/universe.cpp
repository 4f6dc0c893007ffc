#include "universe.hpp"

#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <thread>

#include "device_stream.hpp"
#include "error.hpp"
#include "in_streams.hpp"
#include "per_process.hpp"

namespace dfccl_torch {
namespace {

constexpr const char* kInStreams = " in streams";
constexpr const char* kNoRoom = " in streams, no room";

struct Shared {
  std::mutex mutex;
  std::weak_ptr<Universe> universe;
};
PerProcess<Shared> shared;

/// What a setting can't be is refused before this rank meets the others.
const std::string& checked(const std::string& job) {
  isInStreamsSet();
  return job;
}

/// What a rank tells the others beside its GPU's index.
std::string wayOf(c10::Device device) {
  if (!isInStreamsSet()) return "";
  return hasRoomInStreams(device) ? kInStreams : kNoRoom;
}

}  // namespace

Universe::Universe(const std::string& job, int rank, int ranks, std::chrono::milliseconds timeout, Store store,
                   Meeting meeting)
    : job_(checked(job)),
      rank_(rank),
      ranks_(ranks),
      timeout_(timeout),
      store_(std::move(store)),
      meeting_(std::move(meeting)),
      cpu_(std::make_shared<World>(job, rank, ranks, std::vector<int>(), timeout, meeting_, *store_)) {}

std::shared_ptr<World> Universe::onGpu(c10::Device device) {
  {
    const std::lock_guard lock(mutex_);
    if (gpu_ && told_ == device) return gpu_;
  }
  prepareStreams(device);  // refuses what can't be used before others are told
  tell(device, false);
  gpuStore().set(gpuKey("called"), "");
  waitForGpus();
  return join(device);
}

std::optional<c10::Device> Universe::gpu() const {
  const std::lock_guard lock(mutex_);
  return gpu_ ? told_ : std::nullopt;
}

bool Universe::isCalledToGpu() const { return gpuStore().check({gpuKey("called")}); }

void Universe::tellGpu(c10::Device device) {
  {
    const std::lock_guard lock(mutex_);
    if (told_) return;
  }
  prepareStreams(device);
  tell(device, true);
}

bool Universe::joinOnGpu() {
  std::optional<c10::Device> mine;
  {
    const std::lock_guard lock(mutex_);
    mine = told_;
  }
  if (!mine || !areGpusKnown()) return false;
  const c10::DeviceGuard guard(*mine);
  join(*mine);
  return true;
}

void Universe::tell(c10::Device mine, bool isEarly) {
  const std::lock_guard telling(telling_);
  if (told_ && *told_ != mine && !isEarly) {
    refuse("This rank's GPU is " + told_->str() + ", " +
               (isToldEarly_ ? "the only one that it had used when other ranks came with theirs"
                             : "with which it came first") +
               ", and a tensor is on " + mine.str() + ".",
           "A process is one rank on one GPU: call torch.cuda.set_device before the first collective, or give "
           "init_process_group a device_id.");
  }
  if (told_) return;
  gpuStore().set(gpuKey(std::to_string(rank_)), std::to_string(mine.index()) + wayOf(mine));
  if (gpuStore().add(gpuKey("told"), 1) == ranks_) gpuStore().set(gpuKey("all"), "");
  const std::lock_guard lock(mutex_);
  told_ = mine;
  isToldEarly_ = isEarly;
}

c10d::Store& Universe::gpuStore() const {
  std::call_once(cloning_, [this] {
    try {
      gpuStore_ = store_->clone();
    } catch (const std::exception&) {
      gpuStore_ = store_;  // one of Python's, which may have no clones
    }
  });
  return *gpuStore_;
}

bool Universe::areGpusKnown() const { return gpuStore().check({gpuKey("all")}); }

void Universe::waitForGpus() const {
  constexpr auto kFirst = std::chrono::milliseconds(1), kLeast = std::chrono::milliseconds(50);
  const auto longest = std::max(kLeast, std::chrono::milliseconds(ranks_));  // of a thousand ranks, each once a second
  const auto end = std::chrono::steady_clock::now() + timeout_;
  for (auto pause = kFirst; !areGpusKnown(); pause = std::min(2 * pause, longest)) {
    for (const int lost : cpu_->lostRanks()) {
      if (gpuStore().check({gpuKey(std::to_string(lost))})) continue;
      refuse("Rank " + std::to_string(lost) +
                 " is gone, and had not told its GPU, which the first collective on GPUs waits for.",
             "Let ranks stay until the others are done, or let each have a collective on its GPU first.");
    }
    if (std::chrono::steady_clock::now() >= end) refuseLateGpus();
    std::this_thread::sleep_for(pause);
  }
}

void Universe::refuseLateGpus() const {
  std::string late;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (gpuStore().check({gpuKey(std::to_string(rank))})) continue;
    late += (late.empty() ? "" : ", ") + std::to_string(rank);
  }
  refuse("The first collective on GPUs waits until it is known which GPU each rank has, and after " +
             std::to_string(timeout_.count()) + " ms it isn't of ranks " + late + ".",
         "Give init_process_group a device_id, or call torch.cuda.set_device on every rank.");
}

std::vector<int> Universe::gpusOfAll() {
  std::vector<int> devices;
  runsInStreams_ = isInStreamsSet();
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::vector<uint8_t> told = gpuStore().get(gpuKey(std::to_string(rank)));
    const std::string words(told.begin(), told.end());
    devices.push_back(std::stoi(words));
    const std::string way = words.substr(std::to_string(devices.back()).size());
    if (way.empty() == isInStreamsSet()) {
      refuse("DFCCL_IN_STREAMS=1 is set on rank " + std::to_string(way.empty() ? rank_ : rank) + " and not on rank " +
                 std::to_string(way.empty() ? rank : rank_) + ".",
             "Set it on all ranks or on none: collectives in streams meet each other only.");
    }
    if (way == kNoRoom) runsInStreams_ = false;
  }
  if (isInStreamsSet() && !runsInStreams_) {
    TORCH_WARN_ONCE(
        "dfccl: DFCCL_IN_STREAMS=1 has no effect, as a rank's GPU has no room for kernels that wait in streams: it has "
        "fewer than 4 hardware queues (CUDA_DEVICE_MAX_CONNECTIONS), or not 17 multiprocessors more than queues.");
  }
  return devices;
}

std::shared_ptr<World> Universe::join(c10::Device mine) {
  const std::lock_guard joining(joining_);
  if (!gpu_) {  // which only its holder changes
    auto joined = std::make_shared<World>(job_ + "-gpu", rank_, ranks_, gpusOfAll(), timeout_, meeting_, gpuStore());
    const std::lock_guard lock(mutex_);
    gpu_ = std::move(joined);
  }
  return gpu_;
}

std::shared_ptr<Universe> sharedUniverse() {
  Shared& here = shared.get();
  const std::lock_guard lock(here.mutex);
  return here.universe.lock();
}

void shareUniverse(const std::shared_ptr<Universe>& universe) {
  Shared& here = shared.get();
  const std::lock_guard lock(here.mutex);
  here.universe = universe;
}

}  // namespace dfccl_torch
