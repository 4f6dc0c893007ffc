#pragma once
// What the environment says to this library, which nobody else would tell that he doesn't understand it.
#include <cstdint>
#include <optional>

namespace dfccl::nccl {

/// @return what a variable says, the greatest number if it says a greater one; nothing where it isn't set, or is empty.
/// @throws Failure ncclInvalidArgument unless it is a whole number, 0 or more. @param unit of what
std::optional<uint64_t> numberOfEnvironment(const char* name, const char* unit);

/// What none of this library's variables may be. @throws Failure ncclInvalidArgument: one of them is
void checkEnvironment();

}  // namespace dfccl::nccl
