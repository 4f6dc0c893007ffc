#pragma once
// What the host keeps for the members of a rank that graphs have runs of, made for several members at once.
#include <cuda_runtime_api.h>

#include <vector>

#include "device/captured_run.cuh"
#include "host/driver/memory.hpp"

namespace dfccl::gpu {

/// A member's.
struct CapturedHome {
  CapturedNotes* notes;
  cudaEvent_t over;  // see LaunchOrder
};

/// Made with calls of CUDA's, which may wait until a device is idle: under no lock that others need.
class CapturedHomes {
 public:
  /// On the current device. @pre RelaxedCapture @throws Error dfcclOutOfMemory, dfcclSystemError
  CapturedHomes();
  ~CapturedHomes();
  CapturedHomes(const CapturedHomes&) = delete;
  CapturedHomes& operator=(const CapturedHomes&) = delete;

  const std::vector<CapturedHome>& all() const { return homes_; }

 private:
  void free();

  static constexpr size_t kMembers = 32;

  PinnedMemory memory_;
  std::vector<CapturedHome> homes_;
};

}  // namespace dfccl::gpu
