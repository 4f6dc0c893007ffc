#include "stream_programs/streams_of_rank.hpp"

#include <algorithm>

#include "stream_programs/cuda_calls.hpp"

namespace dfccl::gpu::programs {
namespace {

bool isDefault(StreamKind kind) { return kind == StreamKind::legacy || kind == StreamKind::perThread; }

}  // namespace

StreamsOfRank::StreamsOfRank() {
  PROGRAMS_CUDA(cudaDeviceGetStreamPriorityRange(&least_, &greatest_));
  PROGRAMS_CUDA(cudaStreamCreateWithFlags(&behindDestroyed_, cudaStreamNonBlocking));
}

void StreamsOfRank::begin(const std::vector<StreamPlan>& plans) {
  for (size_t i = 0; i < plans_.size(); ++i) {
    if (!isDefault(plans_[i].kind)) idle_[{plans_[i].kind, plans_[i].urgency}].push_back(streams_[i]);
  }
  plans_ = plans;
  streams_.clear();
  for (const StreamPlan& plan : plans_) {
    auto& idle = idle_[{plan.kind, plan.urgency}];
    if (idle.empty()) {
      streams_.push_back(make(plan));
    } else {
      streams_.push_back(idle.back());
      idle.pop_back();
    }
  }
}

void StreamsOfRank::renew(int number) {
  const auto at = static_cast<size_t>(number);
  if (isDefault(plans_[at].kind)) return;
  cudaEvent_t done = nullptr;
  PROGRAMS_CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  PROGRAMS_CUDA(cudaEventRecord(done, streams_[at]));
  PROGRAMS_CUDA(cudaStreamWaitEvent(behindDestroyed_, done, 0));
  PROGRAMS_CUDA(cudaEventDestroy(done));
  PROGRAMS_CUDA(cudaStreamDestroy(streams_[at]));
  streams_[at] = make(plans_[at]);
}

void StreamsOfRank::synchronizeAll() const {
  for (const cudaStream_t stream : streams_) PROGRAMS_CUDA(cudaStreamSynchronize(stream));
  PROGRAMS_CUDA(cudaStreamSynchronize(behindDestroyed_));
}

cudaStream_t StreamsOfRank::make(const StreamPlan& plan) const {
  if (plan.kind == StreamKind::legacy) return nullptr;
  if (plan.kind == StreamKind::perThread) return cudaStreamPerThread;
  const unsigned flags = plan.kind == StreamKind::blocking ? cudaStreamDefault : cudaStreamNonBlocking;
  // The more urgent, the smaller the number.
  const int priority = std::max(greatest_, least_ - static_cast<int>(plan.urgency));
  cudaStream_t stream = nullptr;
  PROGRAMS_CUDA(cudaStreamCreateWithPriority(&stream, flags, priority));
  return stream;
}

}  // namespace dfccl::gpu::programs
