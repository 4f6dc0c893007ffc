#include "nccl_api/calls/group_calls.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "entry_points.hpp"
#include "functions.hpp"
#include "nccl_api/calls/falling_back.hpp"
#include "nccl_api/calls/making_many.hpp"
#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {
namespace {

struct GroupedCalls {
  int depth = 0;
  bool isRealOpen = false;  // the other NCCL has one too
  std::vector<Making> makings;
  std::vector<Operation> operations;
  ToldFailure failure;  // of the first of its calls that failed
};
struct OpenGroupedCalls : GroupedCalls {
  OpenGroupedCalls() = default;
  OpenGroupedCalls(const OpenGroupedCalls&) = delete;
  OpenGroupedCalls& operator=(const OpenGroupedCalls&) = delete;
  /// The thread ends, and with it what it hasn't ended: nobody is to wait for that. Where it was to put the handles may
  /// be gone.
  ~OpenGroupedCalls() {
    isGone = true;
    for (const Making& making : makings) {
      if (making.made) making.made->failed(ncclInvalidUsage);
      making.tellOthersOfGivingUp();
    }
  }
  /// What ends behind it may still destroy communicators.
  static inline thread_local bool isGone = false;
};
thread_local OpenGroupedCalls grouped;

template <class Call>
std::vector<Call> only(Call call) {
  std::vector<Call> one;
  one.push_back(std::move(call));
  return one;
}

/// @return false: no group is open, and it is to be done at once.
template <class Call>
bool isKept(std::vector<Call>& kept, Call& call) {
  if (grouped.depth == 0) return false;
  kept.push_back(std::move(call));
  return true;
}

/// @return the group where it is over now, or nothing: it was an inner one. @throws Failure ncclInvalidUsage
std::optional<GroupedCalls> leaveGroup() {
  if (grouped.depth == 0) {
    throw Failure(ncclInvalidUsage, "No group of this thread is open.",
                  "Call ncclGroupStart first, on the same thread.");
  }
  if (--grouped.depth != 0) return std::nullopt;
  return std::exchange(static_cast<GroupedCalls&>(grouped), {});
}

/// Ends the other NCCL's group, with nothing of it done: as in this library's, one call that fails sees to that, and
/// there is no call for it.
void dropReal(const RealNccl& real) {
  real.call<decltype(ncclAllReduce)>("ncclAllReduce", nullptr, nullptr, size_t{1}, ncclInt8, ncclSum, nullptr, nullptr);
  real.call<decltype(ncclGroupEnd)>("ncclGroupEnd");
}

/// Nothing of it is done. @param why the communicators that were begun in it fail with that
void drop(GroupedCalls dropped, ncclResult_t why) {
  for (Making& making : dropped.makings) making.drop(why);
  if (dropped.isRealOpen) dropReal(*RealNccl::opened());
}

}  // namespace

ncclResult_t makeSoon(Making making) {
  return isKept(grouped.makings, making) ? ncclSuccess : makeAll(only(std::move(making)));
}

ncclResult_t submitSoon(Operation operation) {
  if (!isKept(grouped.operations, operation)) submit(operation);
  return ncclSuccess;
}

void dropFromGroup(const std::shared_ptr<Communicator>& communicator) noexcept {
  if (OpenGroupedCalls::isGone) return;
  std::erase_if(grouped.makings, [&](Making& making) {
    if (making.made != communicator) return false;
    making.drop(ncclInvalidUsage);
    return true;
  });
}

ncclResult_t noteInGroup(ncclResult_t result) noexcept {
  const bool hasFailed = result != ncclSuccess && result != ncclInProgress;
  if (hasFailed && grouped.depth != 0 && grouped.failure.result == ncclSuccess) grouped.failure = lastOfThread();
  return result;
}

void joinRealGroup(const RealNccl& real) {
  if (grouped.depth == 0 || grouped.isRealOpen) return;
  real.check(real.call<decltype(ncclGroupStart)>("ncclGroupStart"));
  grouped.isRealOpen = true;
}

ncclResult_t groupStart() {
  ++grouped.depth;
  return ncclSuccess;
}

ncclResult_t groupEnd() {
  std::optional<GroupedCalls> ended = leaveGroup();
  if (!ended) return ncclSuccess;
  if (const ToldFailure failure = ended->failure; failure.result != ncclSuccess) {
    drop(*std::move(ended), failure.result);
    throw Failure(failure.result,
                  std::string("A call of the group failed, so nothing of the group was done. ") + failure.sentence);
  }
  // What the other NCCL was given doesn't wait for what this library does, nor the other way round.
  const RealNccl* const real = ended->isRealOpen ? RealNccl::opened() : nullptr;
  const ncclResult_t there = real ? real->call<decltype(ncclGroupEnd)>("ncclGroupEnd") : ncclSuccess;
  const ncclResult_t made = makeAll(std::move(ended->makings));
  if (made != ncclSuccess && made != ncclInProgress) return made;
  submit(std::move(ended->operations));
  if (real) real->check(there);
  return made == ncclSuccess ? there : made;
}

ncclResult_t groupSimulateEnd(ncclSimInfo_t*) {
  // As ncclGroupEnd does: who is refused calls that no more, and a group that stayed open would keep all later calls.
  if (std::optional<GroupedCalls> ended = leaveGroup()) drop(*std::move(ended), ncclInvalidUsage);
  throw Failure(ncclInvalidUsage, "Times are not estimated; end the group with ncclGroupEnd.");
}

}  // namespace dfccl::nccl
