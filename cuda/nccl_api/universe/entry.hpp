#pragma once
// The border of the library: nothing that is thrown inside gets past an entry point.
#include <new>
#include <type_traits>

#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {

/// Runs an entry point's body. @return what it does, or the code of what went wrong.
template <class Body>
auto entered(const char* function, Body&& body) noexcept -> decltype(body()) {
  using Result = decltype(body());
  ncclResult_t result = ncclSystemError;
  try {
    return body();
  } catch (const Failure& failure) {
    result = fail(failure.result(), function, failure.what());
  } catch (const std::bad_alloc&) {
    result = fail(ncclSystemError, function, "The process is out of memory.");
  } catch (const std::exception& error) {
    result = fail(ncclSystemError, function, error.what());
  }
  if constexpr (std::is_same_v<Result, ncclResult_t>) {
    return result;
  } else {
    return Result();
  }
}

/// What an entry point answers that this library doesn't offer. @return ncclInvalidUsage, or nothing.
template <class Result>
Result refuse(const char* function, const char* why) noexcept {
  fail(ncclInvalidUsage, function, why);
  if constexpr (std::is_same_v<Result, ncclResult_t>) {
    return ncclInvalidUsage;
  } else {
    return Result();
  }
}

}  // namespace dfccl::nccl
