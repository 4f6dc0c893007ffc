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
/// @throws Error dfcclInvalidArgument, dfcclInvalidProgram where runs are to bring their counts and the program can't
/// serve several.
void checkServesCounts(const BoundProgram& program, const CollectiveSpec& spec);
/// Where runs can't bring their counts at all. @param place as in "runs can't bring their counts <place>".
/// @throws Error dfcclUnavailable
void refuseCountPerRun(const CollectiveSpec& spec, const char* place);
/// @throws Error dfcclInvalidArgument where a collective of the caller's own has none.
void checkHasProgram(const CollectiveSpec& spec);

}  // namespace dfccl
