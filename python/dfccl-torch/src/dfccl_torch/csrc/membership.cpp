#include "membership.hpp"

#include "device_stream.hpp"
#include "error.hpp"

namespace dfccl_torch {

Membership::Membership(std::shared_ptr<Universe> universe, std::vector<int> worldRanks, std::string name)
    : universe_(std::move(universe)),
      worldRanks_(std::move(worldRanks)),
      name_(std::move(name)),
      positions_(std::make_shared<const Positions>(universe_->store(), "dfccl/" + universe_->job() + "/group/" + name_,
                                                   worldRanks_)),
      cpu_(std::make_shared<Group>(universe_->onCpu(), worldRanks_, name_, positions_)) {}

std::shared_ptr<Group> Membership::on(c10::Device device) {
  if (device.is_cpu()) return cpu_;
  if (!device.is_cuda()) {
    refuse("A tensor is on " + device.str() + ".",
           "Move it to the CPU or a GPU, or give that device a backend of its own: "
           "init_process_group(\"cpu:dfccl,xpu:xccl\").");
  }
  const std::shared_ptr<World> world = universe_->onGpu(device);
  const std::lock_guard lock(mutex_);
  if (!gpu_) gpu_ = std::make_shared<Group>(world, worldRanks_, name_, positions_);
  return gpu_;
}

std::shared_ptr<Group> Membership::inStreams(c10::Device device) {
  const std::shared_ptr<World> world = universe_->onGpu(device);
  const std::lock_guard lock(mutex_);
  if (!inStreams_) inStreams_ = std::make_shared<Group>(world, worldRanks_, name_, positions_, pooledStream(device));
  return inStreams_;
}

void Membership::abort() {
  if (!cpu_->isOfThisProcess()) return;
  check(dfcclGroupAbort(cpu_->handle()), "aborting group " + name_);
  const std::lock_guard lock(mutex_);
  for (const auto& group : {gpu_, inStreams_}) {
    if (group) check(dfcclGroupAbort(group->handle()), "aborting group " + name_ + " on GPUs");
  }
}

}  // namespace dfccl_torch
