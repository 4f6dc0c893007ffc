#pragma once
// Communicators that are the other NCCL's: what is asked of one goes there, all of it.
#include <type_traits>

#include "nccl_api/calls/communicator.hpp"
#include "nccl_api/universe/real_nccl.hpp"

namespace dfccl::nccl {

/// Why a communicator isn't this library's, in a sentence; the first time in a process it is printed.
void tellOfFallingBack(const RealNccl& real, const char* why);
/// Before a call of the other NCCL's: if this thread has a group open, that has one too from now on.
void joinRealGroup(const RealNccl& real);

/// @return the other NCCL's own handle of a communicator, or null: it is this library's, or none.
inline ncclComm_t fallenBack(ncclComm_t handle) noexcept {
  return RealNccl::opened() == nullptr ? nullptr : Communicators::realOf(handle);
}

/// Calls a function of the other NCCL's by its name. @pre it is open. @throws Failure
template <class Function, class... Arguments>
auto callReal(const char* name, Arguments... arguments) {
  const RealNccl& real = *RealNccl::opened();
  joinRealGroup(real);
  using Result = std::invoke_result_t<Function*, Arguments...>;
  if constexpr (std::is_same_v<Result, ncclResult_t>) {
    return real.check(real.call<Function>(name, arguments...));
  } else {
    return real.call<Function>(name, arguments...);
  }
}

}  // namespace dfccl::nccl
