#include "nccl_api/calls/group_calls.hpp"

#include <algorithm>
#include <memory>
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

/// In a thread that nobody waits for. @return ncclInProgress, or what went wrong.
ncclResult_t makeBeside(Making making) {
  const auto kept = std::make_shared<Making>(std::move(making));
  // Of a split that gives no part the caller has nothing to ask but the parent.
  const std::shared_ptr<Communicator> parent = kept->made ? nullptr : kept->parent;
  if (parent) parent->beganSplit();
  try {
    std::thread([kept, parent] {
      kept->run();
      if (parent) parent->endedSplit();
    }).detach();
  } catch (const std::exception& error) {
    if (parent) parent->endedSplit();
    return kept->giveUp(error.what());
  }
  return ncclInProgress;
}

/// Each in a thread of its own, as each waits for others that may be among them. @return the first failure
ncclResult_t makeTogether(std::vector<Making>& makings) {
  std::vector<ncclResult_t> results(makings.size(), ncclSuccess);
  std::vector<std::thread> threads;
  threads.reserve(makings.size());
  const auto isGivenUp = std::make_shared<Atomic<uint32_t>>();
  for (Making& making : makings) making.isGivenUp = isGivenUp;
  try {
    for (size_t i = 0; i < makings.size(); ++i) {
      threads.emplace_back([&, i] { results[i] = makings[i].run(); });
    }
  } catch (const std::exception& error) {
    isGivenUp->store(1, order::relaxed);  // those that have begun may wait for these
    for (size_t i = threads.size(); i < makings.size(); ++i) results[i] = makings[i].giveUp(error.what());
    for (std::thread& thread : threads) thread.join();
    return results.back();
  }
  for (std::thread& thread : threads) thread.join();
  const auto failed = std::find_if(results.begin(), results.end(), [](ncclResult_t r) { return r != ncclSuccess; });
  return failed == results.end() ? ncclSuccess : *failed;
}

/// @return the first failure, or ncclInProgress where some are still being made.
ncclResult_t makeAll(std::vector<Making> makings) {
  const auto firstBeside =
      std::stable_partition(makings.begin(), makings.end(), [](const Making& making) { return making.isBlocking; });
  ncclResult_t beside = ncclSuccess;
  for (auto making = firstBeside; making != makings.end(); ++making) {
    const ncclResult_t result = makeBeside(std::move(*making));
    if (beside == ncclSuccess || beside == ncclInProgress) beside = result;
  }
  makings.erase(firstBeside, makings.end());
  if (makings.empty()) return beside;
  const ncclResult_t made = makings.size() == 1 ? makings[0].run() : makeTogether(makings);
  return made == ncclSuccess ? beside : made;
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
