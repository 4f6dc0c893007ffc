#include "nccl_api/group_calls.hpp"

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "functions.hpp"
#include "nccl_api/failure.hpp"

namespace dfccl::nccl {
namespace {

struct Group {
  int depth = 0;
  std::vector<Making> makings;
  std::vector<Operation> operations;
};
thread_local Group group;

/// Threads of the caller's may be on other devices than this one will need.
void runOn(int device, Making& making, ncclResult_t& result) {
  if (device >= 0) cudaSetDevice(device);
  result = making.run();
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
    std::thread([making = std::move(making)]() mutable {
      ncclResult_t result = ncclSuccess;
      runOn(making.made->device, making, result);
    }).detach();
  }
  std::vector<ncclResult_t> results(waitedFor.size(), ncclSuccess);
  if (waitedFor.size() == 1) {
    results[0] = waitedFor[0]->run();
  } else {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < waitedFor.size(); ++i) {
      const int device = waitedFor[i]->made ? waitedFor[i]->made->device : -1;
      threads.emplace_back(runOn, device, std::ref(*waitedFor[i]), std::ref(results[i]));
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
  if (group.depth != 0) {
    group.makings.push_back(std::move(making));
    return ncclSuccess;
  }
  std::vector<Making> one;
  one.push_back(std::move(making));
  return makeAll(std::move(one));
}

ncclResult_t submitSoon(Operation operation) {
  if (group.depth != 0) {
    group.operations.push_back(std::move(operation));
    return ncclSuccess;
  }
  std::vector<Operation> one;
  one.push_back(std::move(operation));
  submit(std::move(one));
  return ncclSuccess;
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
  const ncclResult_t made = makeAll(std::move(makings));
  if (made != ncclSuccess && made != ncclInProgress) return made;
  submit(std::move(operations));
  return made;
}

}  // namespace dfccl::nccl
