#include "sparse_work.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

#include "coalesced_work.hpp"
#include "errands.hpp"
#include "error.hpp"
#include "hash.hpp"
#include "nan_check.hpp"
#include "submission.hpp"
#include "tag.hpp"

namespace dfccl_torch {
namespace {

/// The same for what ranks add up together.
uint64_t shapeOf(const at::Tensor& tensor, bool isAverage) {
  uint64_t hash = mixed(hashOf("sparse"), static_cast<uint64_t>(tensor.sparse_dim()) + 1);
  hash = mixed(hash, static_cast<uint64_t>(tensor.scalar_type()) + 1);
  hash = mixed(hash, isAverage ? 1 : 2);
  for (const int64_t size : tensor.sizes()) hash = mixed(hash, static_cast<uint64_t>(size) + 1);
  return hash;
}

/// Parts have no limits of their own, as nothing is given up when time is up.
c10d::AllgatherOptions unlimited() {
  c10d::AllgatherOptions options;
  options.timeout = std::chrono::milliseconds(0);
  return options;
}

/// As many rows as the rank has elements, like the rank's own.
std::vector<at::Tensor> roomFor(const at::Tensor& own, const at::Tensor& counts) {
  std::vector<at::Tensor> parts;
  std::vector<int64_t> sizes = own.sizes().vec();
  for (int64_t rank = 0; rank < counts.numel(); ++rank) {
    sizes.front() = counts.data_ptr<int64_t>()[rank];
    parts.push_back(at::empty(sizes, own.options()));
  }
  return parts;
}

}  // namespace

DfcclBackend::Handle DfcclBackend::allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& options) {
  const char* const remedy = "Pass its values, or tensor.to_dense().";
  if (tensors.size() != 1 || tensors.front().layout() != at::kSparse) {
    refuse("all_reduce of sparse tensors takes one tensor in coordinate format (torch.sparse_coo).", remedy);
  }
  const Tensor& tensor = tensors.front();
  if (!tensor.is_cpu()) refuse("all_reduce was given a sparse tensor on " + tensor.device().str() + ".", remedy);
  const bool isAverage = options.reduceOp == c10d::ReduceOp::AVG && !at::isIntegralType(tensor.scalar_type(), true);
  if (!isAverage && options.reduceOp != c10d::ReduceOp::SUM) {
    refuse("all_reduce of sparse tensors adds up (SUM), or takes the mean of floating-point numbers (AVG).", remedy);
  }
  const Tensor elements = tensor.detach().coalesce();
  checkForNan(elements.values(), "all_reduce", *membership_.onCpu());
  SparseWork::Sum sum{tensor, elements.indices().t().contiguous(), elements.values().contiguous(), isAverage};
  sum.timeout = options.timeout.count() < 0 ? options_->timeout : options.timeout;
  ++sequence_;
  {
    const std::lock_guard lock(mutex_);
    const uint64_t shape = mixed(shapeOf(tensor, isAverage), currentTag());
    sum.tag = mixed(shape, ++sparse_[shape]);
  }
  auto work = c10::make_intrusive<SparseWork>(c10::intrusive_ptr<DfcclBackend>::unsafe_reclaim_from_nonowning(this),
                                              std::move(sum));
  work->begin();
  return handOut(work);
}

SparseWork::SparseWork(c10::intrusive_ptr<DfcclBackend> backend, Sum sum)
    : c10d::Work(backend->getRank(), c10d::OpType::_ALLREDUCE_SPARSE, "dfccl:all_reduce", std::vector{sum.target}),
      backend_(std::move(backend)),
      sum_(std::move(sum)),
      counts_(at::empty({backend_->getSize()}, at::kLong)),
      future_(c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))) {}

template <class Next>
void SparseWork::then(const Work& work, const Next& next) {
  auto self = c10::intrusive_ptr<SparseWork>::unsafe_reclaim_from_nonowning(this);
  work->getFuture()->addCallback([self, next](c10::ivalue::Future& future) {
    if (future.hasError()) return self->end(future.exception_ptr());
    try {
      next(*self);
    } catch (...) {
      self->end(std::current_exception());
    }
  });
}

void SparseWork::begin() {
  const TagOfItsOwn tag(sum_.tag);
  at::Tensor own = at::scalar_tensor(sum_.values.size(0), at::kLong).view({1});
  at::Tensor counts = counts_;
  counted_ = backend_->_allgather_base(counts, own, unlimited());
  if (sum_.timeout.count() > 0) {
    const c10::weak_intrusive_ptr<SparseWork> weak(c10::intrusive_ptr<SparseWork>::unsafe_reclaim_from_nonowning(this));
    deadline_.emplace(sum_.timeout, [weak] {
      if (auto self = weak.lock()) runSoon([self = std::move(self)] { self->failFuture(); });
    });
  }
  then(counted_, [](SparseWork& self) { self.gather(); });
}

void SparseWork::gather() {
  std::optional<TagOfItsOwn> tag(sum_.tag);
  std::vector<Work> works;
  for (const at::Tensor& own : {sum_.indices, sum_.values}) {
    parts_.push_back(roomFor(own, counts_));
    std::vector<std::vector<at::Tensor>> outputs{parts_.back()};
    std::vector<at::Tensor> inputs{own};
    works.push_back(backend_->allgather(outputs, inputs, unlimited()));
  }
  tag.reset();  // what the caller's callbacks issue isn't part of this
  const auto gathered = c10::make_intrusive<CoalescedWork>(backend_->getRank(), std::move(works));
  {
    const std::lock_guard lock(mutex_);
    gathered_ = gathered;
    cv_.notify_all();
  }
  then(gathered, [](SparseWork& self) { self.add(); });
}

void SparseWork::add() {
  const at::Tensor indices = at::cat(parts_[0]).t().contiguous();
  at::Tensor values = at::cat(parts_[1]);
  if (sum_.isAverage) values = at::div(values, backend_->getSize());
  const at::Tensor all = at::sparse_coo_tensor(indices, values, sum_.target.sizes(), sum_.target.options());
  copyInto(sum_.target, all.coalesce());
  parts_.clear();
  end(nullptr);
}

void SparseWork::end(std::exception_ptr failure) {
  finish(failure);
  if (!mayTell()) return;
  if (failure) {
    future_->setError(failure);
  } else {
    future_->markCompleted(c10::IValue(std::vector<at::Tensor>{sum_.target}));
  }
}

/// @return true once
bool SparseWork::mayTell() {
  const std::lock_guard lock(mutex_);
  deadline_.reset();  // which holds the work's memory, and with it the tensors
  return !std::exchange(isFutureTold_, true);
}

/// As one of a dense tensor's: nothing is given up but the future.
void SparseWork::failFuture() {
  std::exception_ptr failure;
  try {
    wait(std::chrono::milliseconds(1));
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure && mayTell()) future_->setError(failure);
}

bool SparseWork::wait(std::chrono::milliseconds timeout) {
  if (timeout == kNoTimeout) timeout = sum_.timeout;
  if (timeout < kNoTimeout) timeout = std::chrono::milliseconds(1);
  const std::optional<Clock::time_point> until = endOf(timeout);
  const auto left = [&] {
    if (!until) return kNoTimeout;
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(*until - Clock::now());
    return std::max(time, std::chrono::milliseconds(1));
  };
  counted_->wait(left());
  std::unique_lock lock(mutex_);
  const auto await = [&](auto isReached) {
    if (!until) return cv_.wait(lock, isReached);
    if (cv_.wait_for(lock, left(), isReached)) return;
    C10_THROW_ERROR(DistBackendError, "dfccl, all_reduce: Timed out after " + std::to_string(timeout.count()) +
                                          " ms, in which this rank didn't come to what other ranks have sent.");
  };
  await([&] { return completed_ || gathered_; });
  if (!completed_) {
    const Work gathered = gathered_;
    lock.unlock();
    gathered->wait(left());
    lock.lock();
    await([&] { return completed_; });
  }
  if (exception_) std::rethrow_exception(exception_);
  return true;
}

}  // namespace dfccl_torch
