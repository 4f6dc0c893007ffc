// What a work tells by its future: when its runs are over, or, of kernels in a stream, at once.
#include <thread>

#include "device_stream.hpp"
#include "error.hpp"
#include "work_turn.hpp"

namespace dfccl_torch {
namespace {

c10::IValue valueOf(const Outputs& outputs) {
  if (outputs.empty()) return c10::IValue(std::vector<at::Tensor>());
  if (outputs.size() == 1) return c10::IValue(outputs.front());
  return c10::IValue(outputs);
}

c10::TypePtr typeOf(const Outputs& outputs) {
  const c10::TypePtr list = c10::ListType::create(c10::TensorType::get());
  return outputs.size() > 1 ? c10::ListType::create(list) : list;
}

std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> storagesOf(const Outputs& outputs) {
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> found;
  for (const auto& list : outputs) {
    for (const at::Tensor& output : list) found.push_back(output.storage().getWeakStorageImpl());
  }
  return found;
}

}  // namespace

c10::intrusive_ptr<c10::ivalue::Future> DfcclWork::getFuture() {
  if (isCaptured_) settleInGraph();
  Lock lock(mutex_);
  if (future_ || makeFutureBehindWait(lock)) return future_;
  future_ = makeFuture();
  if (completed_) {
    lock.unlock();
    tellFuture();
    return future_;
  }
  std::optional<ErrandOrder> order;
  if (isOrdered_) order = {group_, std::this_thread::get_id()};
  if (!kernelStream_) place_.emplace(order);
  if (!kernelStream_ && timeout_.count() > 0) {
    const c10::weak_intrusive_ptr<DfcclWork> weak(c10::intrusive_ptr<DfcclWork>::unsafe_reclaim_from_nonowning(this));
    deadline_.emplace(timeout_, [weak] {
      if (auto self = weak.lock()) {
        const ErrandPlace& place = *self->place_;
        place.runBeside([self = std::move(self)] { self->failFuture(); });
      }
    });
  }
  if (!isTaken_) {
    const Turn turn(*this, lock);  // which watches in the end
  }
  return future_;
}

c10::intrusive_ptr<c10::ivalue::Future> DfcclWork::makeFuture() const {
  const std::vector<c10::Device> devices(isOnGpu() ? 1 : 0, device_);
  return c10::make_intrusive<c10::ivalue::Future>(typeOf(outputs_), devices);
}

/// DistributedDataParallel's join() waits for a work and looks at its future's value without waiting for that. Only in
/// the stream that has the wait, as another one would wait for what it has no need of; and where the value has what an
/// event can be recorded for.
bool DfcclWork::makeFutureBehindWait(Lock& lock) {
  if (kernelStream_ || completed_ || isTaken_) return false;
  if (!waitedIn_ || *waitedIn_ != currentStream(device_)) return false;
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> storages = storagesOf(outputs_);
  if (storages.empty()) return false;
  {
    const Turn turn(*this, lock);
    std::string error;
    const Submission::End end = submission_->poll(error);
    if (end != Submission::End::pending) settle(end, error);
  }
  if (completed_ || future_) return future_ != nullptr;
  future_ = makeFuture();
  isFutureTold_ = isWatched_ = true;
  lock.unlock();
  future_->markCompleted(valueOf(outputs_), std::move(storages));
  return true;
}

/// As NCCL's: whoever asks for its value, or is called back, is behind the kernels in its stream, whatever the value
/// is.
void DfcclWork::completeFutureInStream() {
  const c10::StreamGuard behindKernels(*kernelStream_);
  std::exception_ptr failure;
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> storages = submission_->storages();
  try {
    submission_->waitOnStream();
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    isFutureTold_ = true;
  }
  if (failure) {
    future_->setError(failure);
  } else {
    // Whoever waits, or is called back, in another stream uses what the value has in it, also where a wait in its own
    // stream has let all else go.
    for (auto& storage : storagesOf(outputs_)) storages.push_back(std::move(storage));
    future_->markCompleted(valueOf(outputs_), std::move(storages));
  }
}

void DfcclWork::tellFuture() {
  c10::intrusive_ptr<c10::ivalue::Future> future;
  std::exception_ptr failure;
  std::optional<c10::StreamGuard> behindResults;
  {
    const std::lock_guard lock(mutex_);
    if (!future_ || isFutureTold_) return;
    isFutureTold_ = true;
    deadline_.reset();
    future = future_;
    failure = exception_;
    if (isOnGpu()) behindResults.emplace(placed_ ? placed_->stream : quietStream(device_));
  }
  if (failure) {
    future->setError(failure);
  } else {
    future->markCompleted(valueOf(outputs_));
  }
}

void DfcclWork::failFuture() {
  Lock lock(mutex_);
  if (completed_) return;
  std::string missing = "another thread waits for it too";
  if (!isTaken_) {
    const Turn turn(*this, lock);
    const OnQuietStream guard(device_);
    const Submission::End end = submission_->wait(Clock::now(), missing);
    if (end != Submission::End::pending) settle(end, missing);
  }
  if (completed_ || isFutureTold_) return;
  isFutureTold_ = true;
  lock.unlock();
  place_->pass();
  future_->setError(distributedError(timedOut(timeout_, missing)));
}

void DfcclWork::watchForFuture() {
  isWatched_ = true;
  if (kernelStream_) return completeFutureInStream();
  auto self = c10::intrusive_ptr<DfcclWork>::unsafe_reclaim_from_nonowning(this);
  submission_->notify([self]() mutable {
    const ErrandPlace& place = *self->place_;
    place.runBeside([self = std::move(self)] { self->endFromErrand(); });
  });
}

void DfcclWork::endFromErrand() {
  Lock lock(mutex_);
  const OnQuietStream guard(device_);
  // All runs are over, so whoever has the turn gives it back at once.
  cv_.wait(lock, [&] { return completed_ || !isTaken_; });
  if (completed_) return;
  const Turn turn(*this, lock);
  std::string error;
  const Submission::End end = submission_->poll(error);
  if (end != Submission::End::pending) settle(end, error);
}

}  // namespace dfccl_torch
