#pragma once
// What goes wrong, as NCCL's callers are told of it: a code, and a sentence in ncclGetLastError.
#include <exception>
#include <string>
#include <utility>

#include "dfccl/dfccl.h"
#include "nccl_api/universe/abi.hpp"

namespace dfccl::nccl {

class Failure : public std::exception {
 public:
  Failure(ncclResult_t result, std::string message, const std::string& remedy)
      : result_(result), what_(std::move(message) + " " + remedy) {}
  Failure(ncclResult_t result, std::string what) : result_(result), what_(std::move(what)) {}

  ncclResult_t result() const { return result_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  ncclResult_t result_;
  std::string what_;
};

[[noreturn]] inline void refuseArgument(std::string message, const std::string& remedy) {
  throw Failure(ncclInvalidArgument, std::move(message), remedy);
}

/// NCCL's code for what the engine says.
ncclResult_t resultOf(dfcclResult_t status);
/// @throws Failure unless it is a success, with the engine's words.
void check(dfcclResult_t status);
/// @throws Failure ncclUnhandledCudaError unless CUDA has done it. @param call its name
void checkCuda(cudaError_t error, const char* call);

/// A failure as it was told, to be told again.
struct ToldFailure {
  ncclResult_t result = ncclSuccess;  // there is none
  char sentence[1024] = "";           // with the function's name before it
};
/// Keeps the sentence for ncclGetLastError, cut to what fits; allocates nothing. @return `result`
ncclResult_t fail(ncclResult_t result, const char* function, const char* what) noexcept;
/// Keeps it once more. @return its result
ncclResult_t tellAgain(const ToldFailure& failure) noexcept;
/// What this thread's last failure was.
const ToldFailure& lastOfThread() noexcept;
/// What the process's last failure was; "" if there was none. Valid until this thread asks again.
const char* lastFailure() noexcept;

}  // namespace dfccl::nccl
