#pragma once
// What a dfcclGroup_t stands for, and how the functions on groups call the engine.
#include <memory>
#include <string>
#include <vector>

#include "c_api/rank_context.hpp"
#include "dfccl/dfccl.h"
#include "matching/matching.hpp"

namespace dfccl::c_api {

struct GroupHandle : InSlab<GroupHandle> {
  RankContext* context = nullptr;
  std::shared_ptr<MatchedGroup> group;

  Matching& matching() const { return context->matching(); }
  uint32_t size() const { return group->size(); }
  uint32_t member() const { return group->member; }
};

HandleSlab<GroupHandle>& groups();

/// @throws Error dfcclInvalidArgument (null), dfcclClosed
GroupHandle& groupOf(dfcclGroup_t group);

/// Whether some of its members are on other machines than others.
bool isOnSeveralMachines(const GroupHandle& group);

/// @throws Error dfcclInvalidArgument unless it is a place in the group.
uint32_t placeIn(const GroupHandle& group, int place, const char* what);

/// What all runs have in common. @throws Error dfcclInvalidArgument
Signature signatureOf(const GroupHandle& group, Collective collective, size_t count, dfcclDataType_t type,
                      dfcclRedOp_t op, uint64_t tag);

/// Submits one run, or keeps it where a batch of this thread is open. @param request may be null.
/// @throws Error, and nothing was queued then.
void submit(dfcclGroup_t handle, const GroupHandle& group, const MatchedRun& run, dfcclRequest_t* request);
/// The same of several that are one operation.
void submitAll(dfcclGroup_t handle, std::vector<MatchedRun> runs, dfcclRequest_t* request);
/// Submits one run whatever is open.
void submitAtOnce(const GroupHandle& group, const MatchedRun& run, dfcclRequest_t* request);

}  // namespace dfccl::c_api
