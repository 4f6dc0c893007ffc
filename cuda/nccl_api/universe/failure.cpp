#include "nccl_api/universe/failure.hpp"

#include <cstdio>
#include <cstring>
#include <mutex>

namespace dfccl::nccl {
namespace {

// A watchdog's thread asks for what went wrong in another, so there is one for the process.
struct LastFailure {
  std::mutex mutex;
  char text[sizeof ToldFailure::sentence] = "";
};
LastFailure& last() {
  static LastFailure& kept = *new LastFailure;  // threads may ask while the process ends
  return kept;
}
thread_local ToldFailure lastOwn;

}  // namespace

ncclResult_t resultOf(dfcclResult_t status) {
  switch (status) {
    case dfcclSuccess:
      return ncclSuccess;
    case dfcclInvalidArgument:
      return ncclInvalidArgument;
    case dfcclSystemError:
    case dfcclOutOfMemory:
    case dfcclQueueFull:
      return ncclSystemError;
    case dfcclUnavailable:
      return ncclUnhandledCudaError;
    case dfcclTimeout:
      return ncclTimeout;
    case dfcclAborted:
      return ncclRemoteError;
    default:
      return ncclInvalidUsage;
  }
}

void check(dfcclResult_t status) {
  if (status != dfcclSuccess) throw Failure(resultOf(status), dfcclGetLastError());
}

void checkCuda(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  throw Failure(ncclUnhandledCudaError, std::string("CUDA refused ") + call + ": " + cudaGetErrorString(error) + ".",
                "Look at nvidia-smi; CUDA_VISIBLE_DEVICES says which GPUs the process may use.");
}

ncclResult_t fail(ncclResult_t result, const char* function, const char* what) noexcept {
  lastOwn.result = result;
  std::snprintf(lastOwn.sentence, sizeof lastOwn.sentence, "%s: %s", function, what);
  return tellAgain(lastOwn);
}

ncclResult_t tellAgain(const ToldFailure& failure) noexcept {
  LastFailure& kept = last();
  const std::lock_guard lock(kept.mutex);
  std::memcpy(kept.text, failure.sentence, sizeof kept.text);
  return failure.result;
}

const ToldFailure& lastOfThread() noexcept { return lastOwn; }

const char* lastFailure() noexcept {
  thread_local char copy[sizeof ToldFailure::sentence];
  LastFailure& kept = last();
  const std::lock_guard lock(kept.mutex);
  std::memcpy(copy, kept.text, sizeof copy);
  return copy;
}

}  // namespace dfccl::nccl
