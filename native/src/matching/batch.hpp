#pragma once
#include <span>

#include "matching/matching.hpp"

namespace dfccl {

/// Runs of any ranks of this process, in this order: all of them, or none. What may be refused is looked at for all
/// before the first begins; if one can't be queued even so, the groups of those that have begun are given up, because
/// no other rank would know. @throws Error: the parts of all that was not submitted have ended as dfcclAborted.
void submitTogether(std::span<BatchedRun> runs);

}  // namespace dfccl
