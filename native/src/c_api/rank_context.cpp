#include "c_api/rank_context.hpp"

#include <algorithm>
#include <string>

#include "c_api/group_handle.hpp"
#include "c_api/last_error.hpp"
#include "os/tick_clock.hpp"

namespace dfccl::c_api {

ContextTable& contexts() {
  static ContextTable table;
  return table;
}

RankContext& contextOf(dfcclRankCtx_t ctx) {
  RankContext* context = contexts().find(ctx);
  if (context != nullptr) return *context;
  if (ctx == nullptr) refuseArgument("The context is null.", "Pass one that dfcclInit or dfcclInitRank has made.");
  throw Error(dfcclClosed, "The context has been destroyed, or was never made.",
              "Pass one that dfcclInit or dfcclInitRank has made, and destroy it last.");
}

void checkContextList(const dfcclRankCtx_t* ctxs, int count) {
  if (count >= 0 && static_cast<uint32_t>(count) <= kMaxContexts && (ctxs != nullptr || count == 0)) return;
  refuseArgument("The list of contexts is null, or its length is " + std::to_string(count) + ".",
                 "Pass as many contexts as you say; " + std::to_string(kMaxContexts) + " can be open.");
}

RankContext::RankContext(std::shared_ptr<OpenWorld> world, uint32_t rank)
    : world_((world->open(rank), std::move(world))),
      number_(rank),
      queues_(world_->backend().queues(rank)),
      matching_(world_->backend(), rank),
      checksMemory_(world_->backend().checksMemory()),
      ids_(world_->backend().options().limits.collectives),
      registrations_(world_->backend().options().limits.collectives) {
  // Callbacks come also while no thread of the user's waits.
  if (backend().options().workers != 0) backend().deliverInBackground(rank);
  world_->receivers().enter(matching_);
}

const Registration& RankContext::get(int id) const {
  const Registration* found = find(id);
  if (found != nullptr) return *found;
  throw Error(dfcclUnknownCollective,
              "Rank " + std::to_string(number()) + " has no collective " + std::to_string(id) + ".",
              "Register it first; an id is free again after dfcclUnregister.",
              {{"id", std::to_string(id)}, {"rank", std::to_string(number())}});
}

void RankContext::add(CollectiveSpec& spec, bool isOwnProgram) {
  const std::lock_guard lock(mutex_);
  spec.scale = scale_;
  spec.countPerRun = countPerRun_ && spec.collective != Collective::barrier;
  if (spec.countPerRun && spec.count == DFCCL_ANY_COUNT) spec.count = mostCount(spec.type, spec.ranks.size());
  if (ids_.find(spec.id.number)) {
    throw Error(dfcclAlreadyRegistered,
                "Rank " + std::to_string(number()) + " has registered collective " + spec.id.text() + " already.",
                "Unregister it first, or use another id.",
                {{"id", spec.id.text()}, {"rank", std::to_string(number())}});
  }
  const uint32_t index = backend().registerCollective(number(), spec);
  Registration& made = registrations_[index];
  made = {index,
          spec.collective,
          isOwnProgram,
          spec.countPerRun,
          takesAnyCount(spec),
          0,
          backend().shapeOf(number(), index),
          {},
          {}};
  if (spec.countPerRun) {
    made.count = spec.count;
    made.shapeOfOne = shapeOfOne(made.shape, spec.count);
    // A run that has no count of its own is refused then: no memory is large enough.
    if (made.takesAnyCount) made.shape.windowEnd = 0;
  }
  ids_.insert(spec.id.number, index);
}

void RankContext::remove(int id) {
  const std::scoped_lock lock(capturing_, mutex_);
  const uint32_t index = get(id).index;
  backend().unregisterCollective(number(), index, queues_.issuedOf(index));
  removeCaptured(id);
  ids_.remove(static_cast<uint32_t>(id));
}

namespace {
void endGroup(GroupHandle& group) {
  group.group.reset();
  groups().giveBack(group);
}
}  // namespace

void RankContext::addGroup(GroupHandle& group) {
  const std::lock_guard lock(mutex_);
  groups_.push_back(&group);
}

void RankContext::removeGroup(GroupHandle& group) {
  const std::lock_guard lock(mutex_);
  std::erase(groups_, &group);
  endGroup(group);
}

void RankContext::setScale(double scale) {
  const std::lock_guard lock(mutex_);
  scale_ = scale;
}

void RankContext::setCountPerRun(bool isOn) {
  const std::lock_guard lock(mutex_);
  countPerRun_ = isOn;
}

size_t RankContext::collectiveBytes() {
  const std::lock_guard lock(mutex_);
  size_t bytes = backend().remoteBytesOf(number());
  ids_.forEach([&](uint32_t, uint32_t index) { bytes += backend().memoryBytesOf(number(), index); });
  matching_.forEach([&](const MatchedCollective& c) { bytes += backend().memoryBytesOf(number(), c.index); });
  return bytes;
}

bool RankContext::isEveryQuarantineOver() {
  bool isOver = true;
  const auto look = [&](uint32_t index) {
    if (backend().isAborted(number(), index) && !backend().isQuarantineOver(number(), index)) isOver = false;
  };
  ids_.forEach([&](uint32_t, uint32_t index) { look(index); });
  matching_.forEach([&](const MatchedCollective& c) { look(c.index); });
  return isOver;
}

void RankContext::close() {
  const std::scoped_lock lock(capturing_, mutex_);
  const std::string name = "Rank " + std::to_string(number());
  const bool isLost = backend().isLost(number());
  const uint64_t open = matching_.openReceives();  // first: one that isn't open any more is in flight, or over
  if (const uint64_t inFlight = queues_.inFlight(); inFlight != 0 && !isLost) {
    throw Error(dfcclInUse, name + " has " + std::to_string(inFlight) + " runs in flight.",
                "Wait for them with dfcclWait, or give them up with dfcclAbort, before dfcclDestroy.",
                {{"rank", std::to_string(number())}, {"inFlight", std::to_string(inFlight)}});
  }
  if (const size_t halves = matching_.halvesLeft(); halves != 0) {
    throw Error(dfcclInUse, name + " has " + std::to_string(halves) + " messages to itself without their other half.",
                "Receive what was sent, or give the group up with dfcclGroupAbort, before dfcclDestroy.",
                {{"rank", std::to_string(number())}});
  }
  if (open != 0) {
    throw Error(dfcclInUse,
                name + " receives " + std::to_string(open) + " messages from any rank, which nobody has sent.",
                "Send them, or give the group up with dfcclGroupAbort, before dfcclDestroy.",
                {{"rank", std::to_string(number())}});
  }
  if (matching_.isLookingHere()) {
    throw Error(dfcclInUse, name + " is destroyed in a callback of its own.", "Destroy it outside of it.",
                {{"rank", std::to_string(number())}});
  }
  // Peers let go of an aborted collective within a step or two of their daemons, which this thread may do for them. On
  // a GPU the daemon may have to be launched first.
  constexpr int kLooks = 10'000;
  constexpr double kPatienceMicros = 5e6;
  const uint64_t begin = readTicks();
  const auto isPatient = [&](int looks) {
    return looks < kLooks || static_cast<double>(readTicks() - begin) < kPatienceMicros * ticksPerMicrosecond();
  };
  for (int i = 0; !isLost && !isEveryQuarantineOver(); ++i) {
    if (!isPatient(i)) {
      throw Error(dfcclInUse, name + "'s buffers of an aborted collective are still in use by its peers.",
                  "Try again once dfcclIsQuarantineOver says so.", {{"rank", std::to_string(number())}});
    }
    backend().drive();
  }
  matching_.clear();
  for (GroupHandle* group : groups_) endGroup(*group);
  groups_.clear();
  std::vector<uint32_t> ids;
  ids_.forEach([&](uint32_t id, uint32_t index) {
    backend().unregisterCollective(number(), index, queues_.issuedOf(index));
    ids.push_back(id);
  });
  for (const uint32_t id : ids) {
    removeCaptured(static_cast<int>(id));
    ids_.remove(id);
  }
  backend().leave(number());
  world_->close(number());
}

}  // namespace dfccl::c_api
