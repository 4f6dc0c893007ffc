#include "nccl_api/calls/group_calls.hpp"

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "entry_points.hpp"
#include "functions.hpp"
#include "nccl_api/calls/falling_back.hpp"
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

/// For a thread of its own, which begins on the first device.
ncclResult_t runOnDevice(Making& making) {
  if (making.made) cudaSetDevice(making.made->device);
  return making.run();
}

/// All at once, as each waits for others that may be among them. @return the first failure, or ncclInProgress where
/// some are still being made.
ncclResult_t makeAll(std::vector<Making> makings) {
  bool isAnyLeft = false;
  std::vector<Making*> waitedFor;
  for (Making& making : makings) {
    if (making.isBlocking()) {
      waitedFor.push_back(&making);
      continue;
    }
    isAnyLeft = true;
    std::thread([making = std::move(making)]() mutable { runOnDevice(making); }).detach();
  }
  std::vector<ncclResult_t> results(waitedFor.size(), ncclSuccess);
  if (waitedFor.size() == 1) {
    results[0] = waitedFor[0]->run();
  } else {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < waitedFor.size(); ++i) {
      threads.emplace_back([&, i] { results[i] = runOnDevice(*waitedFor[i]); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (const ncclResult_t result : results) {
    if (result != ncclSuccess) return result;
  }
  return isAnyLeft ? ncclInProgress : ncclSuccess;
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
