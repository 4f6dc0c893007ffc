#pragma once
#include <dfccl/dfccl.h>

#include <exception>
#include <string>

namespace dfccl_torch {

/// What the library says of this thread's last failure, in a Python caller's words.
std::string lastWords();

/// Throws torch.distributed.DistBackendError with the library's words where the call has failed.
/// @param what the operation and its group, for the beginning of the sentence.
void check(dfcclResult_t result, const std::string& what);

/// Throws torch.distributed.DistBackendError: what is wrong, and what to do about it.
[[noreturn]] void refuse(const std::string& what, const std::string& remedy);

/// A torch.distributed.DistBackendError of these words, for whoever waits for a future.
std::exception_ptr distributedError(const std::string& text);

}  // namespace dfccl_torch
