// Groups: made, asked, split, given up, destroyed.
#include <algorithm>
#include <mutex>
#include <tuple>
#include <vector>

#include "c_api/group_handle.hpp"
#include "c_api/last_error.hpp"
#include "c_api/requests.hpp"
#include "c_api/waiting.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

namespace {

dfcclGroup_t open(RankContext& context, std::shared_ptr<MatchedGroup> made) {
  GroupHandle& group = groups().take();
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

/// Memory that the rank's daemon and its peers reach, for one exchange.
class ExchangeMemory {
 public:
  ExchangeMemory(RankContext& context, uint32_t members)
      : context_(context),
        bytes_((1 + members) * sizeof(Choice)),
        memory_(context.openWorld().allocate(rank(), bytes_)) {}
  ~ExchangeMemory() {
    if (memory_ != nullptr) context_.openWorld().free(rank(), memory_, bytes_);
  }
  ExchangeMemory(const ExchangeMemory&) = delete;
  ExchangeMemory& operator=(const ExchangeMemory&) = delete;

  Choice* own() const { return static_cast<Choice*>(memory_); }
  Choice* all() const { return own() + 1; }
  void write(const Choice& choice) { context_.backend().copyIn(rank(), own(), &choice, sizeof choice); }
  std::vector<Choice> read(uint32_t members) const {
    std::vector<Choice> choices(members);
    context_.backend().copyOut(rank(), choices.data(), all(), members * sizeof(Choice));
    return choices;
  }
  /// Peers may still touch it: it stays until the world ends.
  void abandon() { memory_ = nullptr; }

 private:
  uint32_t rank() const { return context_.number(); }

  RankContext& context_;
  const size_t bytes_;
  void* memory_;
};

struct Split {
  uint64_t number;
  std::vector<Choice> choices;  // of all members
};

/// @throws Error dfcclTimeout
Split exchange(GroupHandle& group, Choice own, uint64_t timeoutMicros) {
  RankContext& context = *group.context;
  refuseInCallback(context);
  MatchedRun run;
  ExchangeMemory memory(context, group.size());
  memory.write(own);
  run.send = memory.own();
  run.recv = memory.all();
  dfcclRequest_t request = nullptr;
  uint64_t number = 0;
  {
    const std::lock_guard lock(group.group->splitting);
    number = group.group->splits + 1;
    run.signature = signatureOf(group, Collective::allGather, 2, dfcclInt32, dfcclSum, number);
    run.signature.purpose = Purpose::split;
    submitAtOnce(group, run, &request);
    group.group->splits = number;  // what was refused doesn't count
  }
  try {
    waitForRequest(request, timeoutMicros);
  } catch (...) {
    memory.abandon();
    group.matching().abortRun(run.signature, group.group);
    waitForEnd(request);
    throw;
  }
  return {number, memory.read(group.size())};
}

/// Whether runs of it can be kernels in streams.
void checkStreams(const GroupHandle& group) {
  constexpr uint32_t kMostMembers = 64;
  if (!group.context->checksMemory()) {
    throw Error(dfcclUnavailable, "The group is on CPUs, where there are no streams.",
                "Open the world with the backend of GPUs.");
  }
  if (isOnSeveralMachines(group)) {
    throw Error(dfcclUnavailable, "The group's members are on several machines, which no kernel in a stream reaches.",
                "Leave its runs to the daemons.", {{"ranks", std::to_string(group.size())}});
  }
  if (group.size() <= kMostMembers) return;
  throw Error(dfcclUnavailable,
              "The group has " + std::to_string(group.size()) + " members, and collectives of at most " +
                  std::to_string(kMostMembers) + " can be kernels in streams.",
              "Leave its runs to the daemons.", {{"ranks", std::to_string(group.size())}});
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
    *group = open(context, context.matching().makeGroup(listOf(ranks, count, context), name));
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclGroupDestroy(dfcclGroup_t handle) {
  return guarded([&] {
    if (handle == nullptr) return dfcclSuccess;
    GroupHandle& group = groupOf(handle);
    group.matching().dropGroup(*group.group);
    group.context->removeGroup(group);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclGroupSplit(dfcclGroup_t handle, int colour, int key, uint64_t timeoutMicros, dfcclGroup_t* part) {
  return guarded([&] {
    if (part == nullptr) refuseArgument("The address for the new group is null.", "Pass where to store it.");
    *part = nullptr;
    GroupHandle& group = groupOf(handle);
    const auto [number, choices] = exchange(group, {colour, key}, timeoutMicros);
    if (colour < 0) return dfcclSuccess;
    std::vector<std::tuple<int32_t, uint32_t>> mine;  // key, place
    for (uint32_t place = 0; place < choices.size(); ++place) {
      if (choices[place].colour == colour) mine.push_back({choices[place].key, place});
    }
    std::sort(mine.begin(), mine.end());
    std::vector<uint32_t> ranks;
    for (const auto& [itsKey, place] : mine) ranks.push_back(group.group->ranks[place]);
    const uint64_t name = group.group->id.nameOfPart(number, static_cast<uint32_t>(colour));
    *part = open(*group.context, group.matching().makePart(std::move(ranks), name));
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclGroupGetRank(int* rank, dfcclGroup_t group) {
  return give(rank, "rank", group, [](const GroupHandle& g) { return g.member(); });
}

dfcclResult_t dfcclGroupGetRankCount(int* count, dfcclGroup_t group) {
  return give(count, "number of ranks", group, [](const GroupHandle& g) { return g.size(); });
}

dfcclResult_t dfcclGroupRunInStreams(dfcclGroup_t handle, size_t mostBytes, int mostBlocks, dfcclReaders_t readers) {
  return guarded([&] {
    GroupHandle& group = groupOf(handle);
    if (readers != dfcclForAll && readers != dfcclForItsStream) {
      throw Error(dfcclInvalidArgument,
                  "There are no readers " + std::to_string(readers) + " of what runs in streams write.",
                  "Pass dfcclForAll or dfcclForItsStream.", {{"readers", std::to_string(readers)}});
    }
    if (mostBlocks < 0) {
      throw Error(dfcclInvalidArgument, "A kernel of " + std::to_string(mostBlocks) + " blocks carries out nothing.",
                  "Pass how many it may have at most, or 0 for as many as it likes.",
                  {{"mostBlocks", std::to_string(mostBlocks)}});
    }
    if (mostBytes != 0) checkStreams(group);
    group.group->areForTheirStreams = readers == dfcclForItsStream;
    group.group->mostBytesInStreams = mostBytes;
    group.group->mostBlocksInStreams = static_cast<uint32_t>(mostBlocks);
    return dfcclSuccess;
  });
}

dfcclResult_t dfcclGroupAbort(dfcclGroup_t handle) {
  return guarded([&] {
    GroupHandle& group = groupOf(handle);
    group.matching().abortGroup(*group.group);
    return dfcclSuccess;
  });
}
}
