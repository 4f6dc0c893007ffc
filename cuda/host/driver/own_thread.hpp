#pragma once
// What threads of the library's own begin with. A process may end at any moment of theirs (process_end.hpp).
#include <cuda_runtime_api.h>

#include <optional>

#include "host/driver/process_end.hpp"
#include "os/thread_name.hpp"

namespace dfccl::gpu {

/// Names this thread, and lets it make calls while the program captures (relaxed_capture.hpp): for good, as there may
/// be no CUDA any more to set that back when it ends.
/// @param device of its calls; none: each says so. @return false: the process ends, and nothing of CUDA's may be
/// called.
inline bool beginOwnThread(const char* name, std::optional<int> device = std::nullopt) {
  nameThread(name);
  const ProcessEnd::Call call;
  if (!call.isAllowed()) return false;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  if (device) cudaSetDevice(*device);
  return true;
}

}  // namespace dfccl::gpu
