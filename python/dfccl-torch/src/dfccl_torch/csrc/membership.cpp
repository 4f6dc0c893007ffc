#include "membership.hpp"

#include "device_stream.hpp"
#include "error.hpp"
#include "in_streams.hpp"

namespace dfccl_torch {

Membership::Membership(std::shared_ptr<Universe> universe, std::vector<int> worldRanks, std::string name)
    : universe_(std::move(universe)),
      worldRanks_(std::move(worldRanks)),
      name_(std::move(name)),
      positions_(std::make_shared<const Positions>(universe_->store(), "dfccl/" + universe_->job() + "/group/" + name_,
                                                   worldRanks_)),
      givenUp_(std::make_shared<GivenUp>()),
      cpu_(made(universe_->onCpu())) {}

std::shared_ptr<Group> Membership::made(const std::shared_ptr<World>& world, std::optional<c10::Stream> own) const {
  return std::make_shared<Group>(world, worldRanks_, name_, positions_, givenUp_, own);
}

std::shared_ptr<Group> Membership::madeLate(const std::shared_ptr<World>& world, std::optional<c10::Stream> own) const {
  std::shared_ptr<Group> group = made(world, own);
  if (isAborted_) check(dfcclGroupAbort(group->handle()), "aborting group " + name_ + " on GPUs");
  return group;
}

std::shared_ptr<Group> Membership::on(c10::Device device) {
  if (device.is_cpu()) return cpu_;
  if (!device.is_cuda()) {
    refuse("A tensor is on " + device.str() + ".",
           "Move it to the CPU or a GPU, or give that device a backend of its own: "
           "init_process_group(\"cpu:dfccl,xpu:xccl\").");
  }
  const std::shared_ptr<World> world = universe_->onGpu(device);
  const std::lock_guard lock(mutex_);
  if (!gpu_) gpu_ = madeLate(world);
  return gpu_;
}

std::shared_ptr<Group> Membership::forCollective(c10::Device device) {
  if (!wantsStreams(device)) return on(device);
  const std::shared_ptr<World> world = universe_->onGpu(device);
  if (!universe_->runsInStreams()) return on(device);
  const std::lock_guard lock(mutex_);
  if (!inStreams_) inStreams_ = madeLate(world, groupStream(device));
  return inStreams_;
}

void Membership::abort() {
  if (!cpu_->isOfThisProcess()) return;
  const std::lock_guard lock(mutex_);
  isAborted_ = true;
  dfcclResult_t result = dfcclSuccess;
  for (const auto& group : {cpu_, gpu_, inStreams_}) {
    if (!group) continue;
    const dfcclResult_t ofGroup = dfcclGroupAbort(group->handle());
    if (result == dfcclSuccess) result = ofGroup;
  }
  check(result, "aborting group " + name_);
}

}  // namespace dfccl_torch
