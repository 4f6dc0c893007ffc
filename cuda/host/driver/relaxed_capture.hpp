#pragma once
#include <cuda_runtime_api.h>

namespace dfccl::gpu {

/// While a stream of the program's captures, CUDA refuses many calls of all threads, and ends the capture: but not
/// those of a thread that says that its calls have nothing to do with it. All of this library's do, for as long as they
/// are in it. Its own threads begin with beginOwnThread().
class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&former_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&former_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode former_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace dfccl::gpu
