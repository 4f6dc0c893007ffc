// Groups: made, asked, split, given up, destroyed.
#include <algorithm>
#include <tuple>
#include <vector>

#include "c_api/last_error.hpp"
#include "c_api/open_group.hpp"
#include "c_api/requests.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

namespace {

dfcclGroup_t open(RankContext& context, std::vector<uint32_t> ranks, uint64_t name) {
  std::shared_ptr<MatchedGroup> made = context.matching().makeGroup(std::move(ranks), name);
  OpenGroup& group = groups().take();
  group.context = &context;
  group.group = std::move(made);
  context.addGroup(group);
  return reinterpret_cast<dfcclGroup_t>(groups().publish(group));
}

std::vector<uint32_t> listOf(const int* ranks, int count, const RankContext& context) {
  if (count < 0 || static_cast<uint32_t>(count) > context.worldSize()) {
    refuseArgument("The group has " + std::to_string(count) + " ranks.",
                   "Allowed: 0 (all ranks) to " + std::to_string(context.worldSize()) + ", as many as the world has.",
                   {{"field", "count"}, {"value", std::to_string(count)}});
  }
  if (ranks == nullptr && count != 0)
    refuseArgument("The list of ranks is null.", "Pass `count` ranks, or NULL and 0.");
  std::vector<uint32_t> list;
  for (uint32_t rank = 0; count == 0 && rank < context.worldSize(); ++rank) list.push_back(rank);
  for (int i = 0; i < count; ++i) {
    if (ranks[i] < 0) refuseArgument("The group names rank " + std::to_string(ranks[i]) + ".", "Ranks count from 0.");
    list.push_back(static_cast<uint32_t>(ranks[i]));
  }
  return list;
}

/// What a member says of itself in a split.
struct Choice {
  int32_t colour, key;
};

/// All members' choices. @throws Error dfcclTimeout
std::vector<Choice> exchange(OpenGroup& group, Choice own, uint64_t timeoutMicros) {
  std::vector<Choice> choices(group.size());
  MatchedRun run;
  run.signature = signatureOf(group, Collective::allGather, 2, dfcclInt32, dfcclSum, ++group.group->splits);
  run.signature.purpose = Purpose::split;
  run.send = &own;
  run.recv = choices.data();
  dfcclRequest_t request = nullptr;
  submitAtOnce(group, run, &request);
  try {
    waitForRequest(request, timeoutMicros);
  } catch (const Error& error) {
    if (error.status() != dfcclTimeout) throw;
    // The buffers are this function's.
    group.matching().abortRun(run.signature, group.group);
    waitForEnd(request);
    throw;
  }
  return choices;
}

template <class Value>
dfcclResult_t give(int* out, const char* what, dfcclGroup_t group, Value&& value) {
  return guarded([&] {
    if (out == nullptr)
      refuseArgument(std::string("The address for the ") + what + " is null.", "Pass where to store it.");
    *out = static_cast<int>(value(groupOf(group)));
    return dfcclSuccess;
  });
}

}  // namespace

extern "C" {

dfcclResult_t dfcclGroupCreate(const int* ranks, int count, uint64_t name, dfcclGroup_t* group, dfcclRankCtx_t ctx) {
  return guarded([&] {
    if (group == nullptr) refuseArgument("The address for the new group is null.", "Pass where to store it.");
    *group = nullptr;
    RankContext& context = contextOf(ctx);
    *group = open(context, listOf(ranks, count, context), name);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclGroupDestroy(dfcclGroup_t handle) {
  return guarded([&] {
    if (handle == nullptr) return dfcclSuccess;
    OpenGroup& group = groupOf(handle);
    group.matching().dropGroup(*group.group);
    group.context->removeGroup(group);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclGroupSplit(dfcclGroup_t handle, int colour, int key, uint64_t timeoutMicros, dfcclGroup_t* part) {
  return guarded([&] {
    if (part == nullptr) refuseArgument("The address for the new group is null.", "Pass where to store it.");
    *part = nullptr;
    OpenGroup& group = groupOf(handle);
    const std::vector<Choice> choices = exchange(group, {colour, key}, timeoutMicros);
    if (colour < 0) return dfcclSuccess;
    std::vector<std::tuple<int32_t, uint32_t>> mine;  // key, place
    for (uint32_t place = 0; place < choices.size(); ++place) {
      if (choices[place].colour == colour) mine.push_back({choices[place].key, place});
    }
    std::sort(mine.begin(), mine.end());
    std::vector<uint32_t> ranks;
    for (const auto& [itsKey, place] : mine) ranks.push_back(group.group->ranks[place]);
    *part = open(*group.context, std::move(ranks),
                 group.group->id.nameOfPart(group.group->splits, static_cast<uint32_t>(colour)));
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclGroupGetRank(int* rank, dfcclGroup_t group) {
  return give(rank, "rank", group, [](const OpenGroup& g) { return g.member(); });
}

dfcclResult_t dfcclGroupGetRankCount(int* count, dfcclGroup_t group) {
  return give(count, "number of ranks", group, [](const OpenGroup& g) { return g.size(); });
}

dfcclResult_t dfcclGroupAbort(dfcclGroup_t handle) {
  return guarded([&] {
    OpenGroup& group = groupOf(handle);
    group.matching().abortGroup(*group.group);
    return dfcclSuccess;
  });
}
}
