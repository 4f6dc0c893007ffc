#include "coalesced_work.hpp"

#include <algorithm>

#include "deadlines.hpp"

namespace dfccl_torch {

bool CoalescedWork::isCompleted() {
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->isCompleted(); });
}

bool CoalescedWork::isSuccess() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->isSuccess(); });
}

std::exception_ptr CoalescedWork::exception() const {
  for (const auto& part : parts_) {
    if (std::exception_ptr failure = part->exception()) return failure;
  }
  return nullptr;
}

bool CoalescedWork::wait(std::chrono::milliseconds timeout) {
  const Clock::time_point end = timeIn(timeout);
  for (const auto& part : parts_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    part->wait(timeout == kNoTimeout ? kNoTimeout : std::max(left, std::chrono::milliseconds(1)));
  }
  return true;
}

void CoalescedWork::synchronize() {
  for (const auto& part : parts_) part->synchronize();
}

std::vector<at::Tensor> CoalescedWork::result() {
  std::vector<at::Tensor> all;
  for (const auto& part : parts_) {
    for (at::Tensor& tensor : part->result()) all.push_back(std::move(tensor));
  }
  return all;
}

c10::intrusive_ptr<c10::ivalue::Future> CoalescedWork::getFuture() {
  const c10::TypePtr tensors = c10::ListType::create(c10::TensorType::get());
  c10::List<c10::intrusive_ptr<c10::ivalue::Future>> futures(c10::FutureType::create(tensors));
  for (const auto& part : parts_) futures.push_back(part->getFuture());
  auto self = c10::intrusive_ptr<CoalescedWork>::unsafe_reclaim_from_nonowning(this);
  return c10::collectAll(futures)->then(
      [self](c10::ivalue::Future& all) {
        if (all.hasError()) std::rethrow_exception(all.exception_ptr());
        return c10::IValue(self->result());
      },
      tensors);
}

}  // namespace dfccl_torch
