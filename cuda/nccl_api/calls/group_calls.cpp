#include "nccl_api/calls/group_calls.hpp"

#include <utility>
#include <vector>

#include "entry_points.hpp"
#include "functions.hpp"
#include "nccl_api/calls/falling_back.hpp"
#include "nccl_api/calls/making_many.hpp"
#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {
namespace {

struct Group {
  int depth = 0;
  bool isRealOpen = false;  // the other NCCL has one too
  std::vector<Making> makings;
  std::vector<Operation> operations;
};
thread_local Group group;

template <class Call>
std::vector<Call> only(Call call) {
  std::vector<Call> one;
  one.push_back(std::move(call));
  return one;
}

/// @return false: no group is open, and it is to be done at once.
template <class Call>
bool isKept(std::vector<Call>& kept, Call& call) {
  if (group.depth == 0) return false;
  kept.push_back(std::move(call));
  return true;
}

}  // namespace

ncclResult_t makeSoon(Making making) {
  return isKept(group.makings, making) ? ncclSuccess : makeAll(only(std::move(making)));
}

ncclResult_t submitSoon(Operation operation) {
  if (!isKept(group.operations, operation)) submit(operation);
  return ncclSuccess;
}

void joinRealGroup(const RealNccl& real) {
  if (group.depth == 0 || group.isRealOpen) return;
  real.check(real.call<decltype(ncclGroupStart)>("ncclGroupStart"));
  group.isRealOpen = true;
}

ncclResult_t groupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t groupEnd() {
  if (group.depth == 0) {
    throw Failure(ncclInvalidUsage, "No group of this thread is open.",
                  "Call ncclGroupStart first, on the same thread.");
  }
  if (--group.depth != 0) return ncclSuccess;
  std::vector<Making> makings = std::exchange(group.makings, {});
  std::vector<Operation> operations = std::exchange(group.operations, {});
  // What the other NCCL was given doesn't wait for what this library does, nor the other way round.
  const RealNccl* const real = std::exchange(group.isRealOpen, false) ? RealNccl::opened() : nullptr;
  const ncclResult_t there = real ? real->call<decltype(ncclGroupEnd)>("ncclGroupEnd") : ncclSuccess;
  const ncclResult_t made = makeAll(std::move(makings));
  if (made != ncclSuccess && made != ncclInProgress) return made;
  submit(std::move(operations));
  if (real) real->check(there);
  return made == ncclSuccess ? there : made;
}

}  // namespace dfccl::nccl
