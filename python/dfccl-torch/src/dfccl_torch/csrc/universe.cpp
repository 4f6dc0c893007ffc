#include "universe.hpp"

#include "device_stream.hpp"
#include "error.hpp"
#include "in_streams.hpp"
#include "per_process.hpp"

namespace dfccl_torch {
namespace {

struct Shared {
  std::mutex mutex;
  std::weak_ptr<Universe> universe;
};
PerProcess<Shared> shared;

}  // namespace

Universe::Universe(const std::string& job, int rank, int ranks, std::chrono::milliseconds timeout, Store store)
    : job_(job),
      rank_(rank),
      ranks_(ranks),
      timeout_(timeout),
      store_(std::move(store)),
      cpu_(std::make_shared<World>(job, rank, ranks, std::vector<int>(), timeout)) {
  runsInStreams();  // what it can't be is refused now
}

std::shared_ptr<World> Universe::onGpu(c10::Device device) {
  const std::lock_guard joining(joining_);
  if (!gpu_) {
    prepareStreams(device);
    auto joined = std::make_shared<World>(job_ + "-gpu", rank_, ranks_, exchangeDevices(device.index()), timeout_);
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

std::vector<int> Universe::exchangeDevices(int mine) const {
  const auto key = [&](int rank) { return "dfccl/" + job_ + "/gpu/" + std::to_string(rank); };
  const std::string way = runsInStreams() ? " in streams" : "";
  store_->set(key(rank_), std::to_string(mine) + way);
  std::vector<int> devices;
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
    if (words != std::to_string(devices.back()) + way) {
      refuse("DFCCL_IN_STREAMS=1 is set on rank " + std::to_string(way.empty() ? rank : rank_) + " and not on rank " +
                 std::to_string(way.empty() ? rank_ : rank) + ".",
             "Set it on all ranks or on none: collectives in streams meet each other only.");
    }
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
