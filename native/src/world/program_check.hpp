#pragma once
#include "dfccl/program.hpp"
#include "world/collective_spec.hpp"

namespace dfccl {

/// @throws Error dfcclInvalidArgument where a collective of the caller's own has no program, or a count that it can't
/// be for; dfcclInvalidProgram where a program is another collective's, rank's or root's.
void checkProgram(const ProgramHeader& program, const CollectiveSpec& spec, uint32_t member);
void checkHasProgram(const CollectiveSpec& spec);

}  // namespace dfccl
