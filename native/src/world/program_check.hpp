#pragma once
#include "base/program.hpp"
#include "daemon/state/bound_program.hpp"
#include "world/collective_spec.hpp"

namespace dfccl {

/// @throws Error dfcclInvalidArgument for a count of a collective of the caller's own that its program can't be for;
/// dfcclInvalidProgram where a program is another collective's, rank's or root's.
void checkProgram(const BoundProgram& program, const CollectiveSpec& spec, uint32_t member);
/// @throws Error dfcclInvalidProgram where it reads or writes other ranks' memory: for ranks on several machines.
void checkIsConnected(const BoundProgram& program, const CollectiveSpec& spec);
/// @throws Error dfcclInvalidArgument where a collective of the caller's own has none.
void checkHasProgram(const CollectiveSpec& spec);

}  // namespace dfccl
