#include "backend.hpp"

#include <algorithm>

#include "coalesced_work.hpp"
#include "error.hpp"
#include "reachable_memory.hpp"

namespace dfccl_torch {
namespace {

/// Of a receive from any rank, by where it tells its sender: whether nobody has sent, and somebody has kept it.
bool isWaited(const at::Tensor& source) {
  return source.use_count() > 1 && std::atomic_ref(*source.data_ptr<int>()).load(std::memory_order_relaxed) < 0;
}

}  // namespace

DfcclBackend::DfcclBackend(std::shared_ptr<Universe> universe, const std::vector<int>& worldRanks,
                           const std::string& name, int rank, std::chrono::milliseconds timeout)
    : Backend(rank, static_cast<int>(worldRanks.size())),
      membership_(std::move(universe), worldRanks, name),
      options_(c10::make_intrusive<Options>("dfccl", timeout)),
      buffered_(BufferedSends::make(options_)) {
  options_->group_name = name;
}

at::Tensor DfcclBackend::allocateTensor(long size, at::TensorOptions options) {  // NOLINT: torch's signature
  if (!options.device().is_cpu()) {
    refuse("A tensor on " + options.device().str() + " was asked for.", "Make it with torch.empty.");
  }
  return reachableTensor(membership_.cpuWorld(), size, options);
}

void DfcclBackend::startCoalescing() {
  const std::lock_guard lock(mutex_);
  coalescing_[std::this_thread::get_id()] = {};
}

DfcclBackend::Handle DfcclBackend::endCoalescing() {
  std::vector<Handle> works;
  {
    const std::lock_guard lock(mutex_);
    const auto mine = coalescing_.find(std::this_thread::get_id());
    if (mine == coalescing_.end()) refuse("endCoalescing has no beginning.", "Call startCoalescing first.");
    works = std::move(mine->second.works);
    coalescing_.erase(mine);
  }
  if (works.size() == 1) return works.front();
  return c10::make_intrusive<CoalescedWork>(getRank(), std::move(works));
}

DfcclBackend::Handle DfcclBackend::handOut(Handle work) {
  const std::lock_guard lock(mutex_);
  const auto mine = coalescing_.find(std::this_thread::get_id());
  if (mine == coalescing_.end()) return work;
  auto& [works, lookAt] = mine->second;
  works.push_back(work);
  // Where an operation between the two raises, torch never calls endCoalescing, and all that the thread ever does would
  // be kept.
  if (works.size() >= lookAt) {
    std::erase_if(works, [](const Handle& one) { return one->isCompleted() && one->isSuccess(); });
    lookAt = std::max(lookAt, 2 * works.size());
  }
  return work;
}

void DfcclBackend::noteListening(const Tensor& source) {
  const std::lock_guard lock(mutex_);
  std::erase_if(listening_, [](const Tensor& one) { return !isWaited(one); });
  listening_.push_back(source);
}

bool DfcclBackend::isListening() {
  const std::lock_guard lock(mutex_);
  return std::any_of(listening_.begin(), listening_.end(), isWaited);
}

void DfcclBackend::shutdown() {
  if (!membership_.onCpu()->isOfThisProcess()) return;  // the parent's, which goes on
  const std::vector<std::string> late = buffered_->wait(options_->timeout);
  if (!late.empty()) refuse(late.front(), "Receive it before the group is destroyed.");
  // Else they would keep the group for ever.
  if (isListening()) check(dfcclGroupAbort(membership_.onCpu()->handle()), "ending group " + membership_.name());
}

}  // namespace dfccl_torch
