// Communicators made of others: of some of their ranks, or of more.
#include <algorithm>
#include <string>
#include <vector>

#include "entry_points.hpp"
#include "functions.hpp"
#include "nccl_api/calls/falling_back.hpp"
#include "nccl_api/calls/group_calls.hpp"
#include "nccl_api/universe/arguments.hpp"

namespace dfccl::nccl {
namespace {

constexpr int kShrinkAbort = 1;

Config configOf(const Communicator& parent, const ncclConfig_t* config) {
  return config == nullptr ? parent.config : Config::read(config);
}

/// The ranks of a communicator without those that are excluded. @throws Failure ncclInvalidArgument
std::vector<int> keptOf(const Communicator& parent, const int* excluded, int count) {
  if (count < 0 || count >= parent.size() || (count > 0 && excluded == nullptr)) {
    refuseArgument(std::to_string(count) + " ranks of " + std::to_string(parent.size()) + " are to be excluded.",
                   "Pass a list of fewer ranks than there are.");
  }
  std::vector<int> kept;
  for (int r = 0; r < parent.size(); ++r) {
    if (std::find(excluded, excluded + count, r) == excluded + count) kept.push_back(r);
  }
  if (static_cast<int>(kept.size()) != parent.size() - count) {
    refuseArgument("A rank to be excluded is named twice, or is none of the communicator.",
                   "Allowed: each of 0 to " + std::to_string(parent.size() - 1) + " once.");
  }
  return kept;
}

/// One of the other NCCL's. @param make stores its handle, at once or when the thread's group ends
template <class Make>
ncclResult_t makeReal(ncclComm_t* made, const Config& config, int device, const Make& make) {
  const auto communicator = std::make_shared<Communicator>(config, device);
  ncclResult_t result = ncclSuccess;
  communicator->fallBack([&](ncclComm_t* handle) { result = make(handle); });
  *made = Communicators::add(communicator);
  return result;
}

}  // namespace

ncclResult_t commSplit(ncclComm_t comm, int color, int key, ncclComm_t* part, ncclConfig_t* config) {
  checkOut(part, "communicator");
  *part = nullptr;
  if (const ncclComm_t real = fallenBack(comm)) {
    const auto split = [&](ncclComm_t* handle) {
      return callReal<decltype(ncclCommSplit)>("ncclCommSplit", real, color, key, handle, config);
    };
    static thread_local ncclComm_t none;  // of who gets no part
    if (color < 0) return split(&none);
    const std::shared_ptr<Communicator> parent = Communicators::find(comm);
    return makeReal(part, configOf(*parent, config), parent->device, split);
  }
  const std::shared_ptr<Communicator> parent = communicatorWithRanks(comm);
  if (color < -1) {
    refuseArgument("The color is " + std::to_string(color) + ".", "Allowed: 0 or more, or NCCL_SPLIT_NOCOLOR (-1).");
  }
  const Config read = configOf(*parent, config);
  Making making;
  if (color >= 0) making = Making::prepare(part, {}, 0, 0, parent->device, read);
  making.isBlocking = read.isBlocking;
  making.function = "ncclCommSplit";
  making.parent = parent;
  making.meeting = parent->name().derived(parent->nextSplit(), 1);
  making.ranks = parent->size();
  making.rank = parent->rank();
  making.color = color;
  making.key = key;
  return makeSoon(std::move(making));
}

ncclResult_t commShrink(ncclComm_t comm, int* excluded, int excludedCount, ncclComm_t* rest, ncclConfig_t* config,
                        int flags) {
  checkOut(rest, "communicator");
  *rest = nullptr;
  if (const ncclComm_t real = fallenBack(comm)) {
    const std::shared_ptr<Communicator> parent = Communicators::find(comm);
    return makeReal(rest, configOf(*parent, config), parent->device, [&](ncclComm_t* handle) {
      using Shrink = decltype(ncclCommShrink);
      return callReal<Shrink>("ncclCommShrink", real, excluded, excludedCount, handle, config, flags);
    });
  }
  const std::shared_ptr<Communicator> parent = communicatorWithRanks(comm);
  if ((flags & ~kShrinkAbort) != 0) {
    refuseArgument("The flags are " + std::to_string(flags) + ".",
                   "Allowed: NCCL_SHRINK_DEFAULT (0) and NCCL_SHRINK_ABORT (1).");
  }
  std::vector<int> kept = keptOf(*parent, excluded, excludedCount);
  const auto self = std::find(kept.begin(), kept.end(), parent->rank());
  if (self == kept.end()) {
    throw Failure(ncclInvalidUsage, "This rank is among those that are excluded.",
                  "Let only the others call it, and destroy the communicator here.");
  }
  const Config read = configOf(*parent, config);
  if ((flags & kShrinkAbort) != 0) parent->revoke();
  // Those that are left agree on who that is: with others they don't meet.
  Name meeting = parent->name().derived(parent->nextShrink(kept), 2);
  for (const int r : kept) meeting = meeting.derived(static_cast<uint64_t>(r), 2);
  const auto ranks = static_cast<int>(kept.size());
  Making making = Making::prepare(rest, meeting, ranks, static_cast<int>(self - kept.begin()), parent->device, read);
  making.function = "ncclCommShrink";
  making.parent = parent;
  making.kept = std::move(kept);
  return makeSoon(std::move(making));
}

ncclResult_t commGetUniqueId(ncclComm_t comm, ncclUniqueId* id) {
  checkOut(id, "unique id");
  *id = uniqueIdOf(communicatorWithRanks(comm)->growthName());
  return ncclSuccess;
}

ncclResult_t commGrow(ncclComm_t comm, int ranks, const ncclUniqueId* id, int rank, ncclComm_t* grown,
                      ncclConfig_t* config) {
  checkOut(grown, "communicator");
  *grown = nullptr;
  const ncclComm_t real = fallenBack(comm);
  const bool joinsReal = comm == nullptr && id != nullptr && !isOurs(*id) && RealNccl::isNamed();
  if (real != nullptr || joinsReal) {
    RealNccl::open();
    const std::shared_ptr<Communicator> parent = real == nullptr ? nullptr : Communicators::find(comm);
    const Config read = parent ? configOf(*parent, config) : Config::read(config);
    return makeReal(grown, read, parent ? parent->device : currentDevice(), [&](ncclComm_t* handle) {
      return callReal<decltype(ncclCommGrow)>("ncclCommGrow", real, ranks, id, rank, handle, config);
    });
  }
  if (comm == nullptr) {
    if (id == nullptr) {
      refuseArgument("A rank that joins has no unique id.",
                     "Pass the one of ncclCommGetUniqueId on a rank that is in.");
    }
    checkRank(ranks, rank);
    Making joins = Making::prepare(grown, nameOf(*id), ranks, rank, currentDevice(), Config::read(config));
    joins.function = "ncclCommGrow";
    return makeSoon(std::move(joins));
  }
  const std::shared_ptr<Communicator> parent = communicatorWithRanks(comm);
  checkRank(ranks, 0);
  if (ranks <= parent->size()) {
    refuseArgument(
        "A communicator of " + std::to_string(parent->size()) + " ranks is to grow to " + std::to_string(ranks) + ".",
        "Pass the number of all ranks, the new ones among them.");
  }
  if (rank != -1 && rank != parent->rank()) {
    refuseArgument("Rank " + std::to_string(parent->rank()) + " is to become rank " + std::to_string(rank) + ".",
                   "Pass -1: who is in keeps its number.");
  }
  const Name name = parent->growthName();
  if (id != nullptr && nameOf(*id) != name) {
    refuseArgument("The unique id is of another communicator, or has served already.",
                   "Pass the one that ncclCommGetUniqueId gave for this communicator since it last grew, or null.");
  }
  Making stays = Making::prepare(grown, name, ranks, parent->rank(), parent->device, configOf(*parent, config));
  parent->nextGrowth();
  stays.former = parent;
  stays.function = "ncclCommGrow";
  return makeSoon(std::move(stays));
}

}  // namespace dfccl::nccl
