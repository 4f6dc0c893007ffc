#include "any_source_work.hpp"

#include <c10/util/Exception.h>

#include <thread>

namespace dfccl_torch {
namespace {

using Clock = std::chrono::steady_clock;

// Each look works for the engine; who has looked in vain for so long lets others have the core.
constexpr auto kLooks = std::chrono::milliseconds(1);
constexpr auto kRest = std::chrono::microseconds(50);

}  // namespace

AnySourceWork::AnySourceWork(int rank, std::shared_ptr<AnySource> source, const AnySource::Key& key, at::Tensor tensor,
                             std::chrono::milliseconds timeout, uint64_t sequence)
    : Work(rank, c10d::OpType::RECVANYSOURCE, "dfccl:recvAnySource", std::vector<at::Tensor>{tensor}),
      arrivals_(std::move(source)),
      key_(key),
      tensor_(std::move(tensor)),
      timeout_(timeout),
      sequence_(sequence) {
  isCompleted();  // begins the receives
}

bool AnySourceWork::isCompleted() {
  const std::lock_guard looking(looking_);
  {
    const std::lock_guard lock(mutex_);
    if (completed_) return true;
  }
  try {
    const std::optional<AnySource::Arrival> arrival = arrivals_->take(key_);
    if (!arrival) return false;
    copyInto(tensor_, arrival->buffer.view(tensor_.sizes()));
    source_ = arrival->peer;
    finish();
  } catch (...) {
    finish(std::current_exception());
  }
  return true;
}

bool AnySourceWork::isSuccess() const {
  const std::lock_guard lock(mutex_);
  return completed_ && !exception_;
}

bool AnySourceWork::wait(std::chrono::milliseconds timeout) {
  const std::chrono::milliseconds limit = timeout == kNoTimeout ? timeout_ : timeout;
  const auto begin = Clock::now();
  while (!isCompleted()) {
    const auto passed = Clock::now() - begin;
    if (limit.count() > 0 && passed > limit) {
      C10_THROW_ERROR(DistBackendError, "dfccl, recv: Timed out after " + std::to_string(limit.count()) +
                                            " ms: no rank has sent " + std::to_string(key_.count) + " elements of " +
                                            c10::toString(key_.type) + " with this tag.");
    }
    passed < kLooks ? std::this_thread::yield() : std::this_thread::sleep_for(kRest);
  }
  const std::lock_guard lock(mutex_);
  if (exception_) std::rethrow_exception(exception_);
  return true;
}

}  // namespace dfccl_torch
