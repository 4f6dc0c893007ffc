#include "universe.hpp"

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
  const std::lock_guard joining(joining_);
  if (!gpu_) {
    prepareStreams(device);
    const std::vector<int> devices = exchangeDevices(device);
    auto joined = std::make_shared<World>(job_ + "-gpu", rank_, ranks_, devices, timeout_, meeting_, *store_);
    const std::lock_guard lock(mutex_);
    gpu_ = std::move(joined);
    device_ = device;
  }
  if (device_ != device) {
    refuse(
        "This rank's GPU is " + device_.str() + ", with which it came first, and a tensor is on " + device.str() + ".",
        "A process is one rank on one GPU: call torch.cuda.set_device before the first collective.");
  }
  return gpu_;
}

std::optional<c10::Device> Universe::gpu() const {
  const std::lock_guard lock(mutex_);
  return gpu_ ? std::optional(device_) : std::nullopt;
}

std::vector<int> Universe::exchangeDevices(c10::Device mine) {
  const auto key = [&](int rank) { return "dfccl/" + job_ + "/gpu/" + std::to_string(rank); };
  store_->set(key(rank_), std::to_string(mine.index()) + wayOf(mine));
  std::vector<int> devices;
  runsInStreams_ = isInStreamsSet();
  for (int rank = 0; rank < ranks_; ++rank) {
    try {
      store_->wait({key(rank)}, timeout_);
    } catch (const std::exception& error) {
      refuse("The first collective on GPUs waits until every rank has issued one, and rank " + std::to_string(rank) +
                 " has not: " + error.what(),
             "Let every rank issue one, such as an all_reduce right after init_process_group.");
    }
    const std::vector<uint8_t> told = store_->get(key(rank));
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
