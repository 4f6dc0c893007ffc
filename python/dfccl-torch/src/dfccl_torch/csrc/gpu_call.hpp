#pragma once
#include <memory>

#include "universe.hpp"

namespace dfccl_torch {

/// Other ranks' call for this one's GPU, as a thread of gpu_call.py hears it. Keeps no universe alive.
class GpuCall {
 public:
  explicit GpuCall(const std::shared_ptr<Universe>& universe) : universe_(universe) {}

  /// Whether there is nothing to hear any more: this rank has joined, or its universe has ended.
  bool isOver() const;
  /// As Universe's; nothing, and false, where it has ended.
  bool isMade() const;
  void tell(c10::DeviceIndex device) const;
  bool join() const;

 private:
  const std::weak_ptr<Universe> universe_;
};

}  // namespace dfccl_torch
