#include "nccl_api/calls/making_many.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {
namespace {

/// What came of one that is made alone.
ncclResult_t ended(const Making& making, ncclResult_t result) {
  if (result != ncclSuccess) making.tellOthersOfGivingUp();
  return result;
}

/// In a thread that nobody waits for. @return ncclInProgress, or what went wrong.
ncclResult_t makeBeside(Making making) {
  const auto kept = std::make_shared<Making>(std::move(making));
  // Of a split that gives no part the caller has nothing to ask but the parent.
  const std::shared_ptr<Communicator> parent = kept->made ? nullptr : kept->parent;
  if (parent) parent->beganSplit();
  try {
    std::thread([kept, parent] {
      ended(*kept, kept->run());
      if (parent) parent->endedSplit();
    }).detach();
  } catch (const std::exception& error) {
    if (parent) parent->endedSplit();
    return ended(*kept, kept->giveUp(error.what()));
  }
  return ncclInProgress;
}

/// What comes of communicators that are made together.
class Together {
 public:
  explicit Together(std::vector<Making>& makings) {
    for (Making& making : makings) making.isGivenUp = isGivenUp_;
  }
  /// Of one of them, by the thread that has told of it. The first failure is the one that counts: after it, others fail
  /// because they are given up.
  void note(const Making& making, ncclResult_t result) {
    if (result == ncclSuccess) return;
    {
      const std::lock_guard lock(mutex_);
      if (first_.result == ncclSuccess) first_ = lastOfThread();
    }
    isGivenUp_->store(1, order::relaxed);
    making.tellOthersOfGivingUp();  // who may be others of these
  }
  /// Once all are over.
  ncclResult_t result() const { return first_.result == ncclSuccess ? ncclSuccess : tellAgain(first_); }

 private:
  const std::shared_ptr<Atomic<uint32_t>> isGivenUp_ = std::make_shared<Atomic<uint32_t>>();
  std::mutex mutex_;
  ToldFailure first_;  // under mutex_
};

/// Each in a thread of its own, as each waits for others that may be among them. @return the first failure
ncclResult_t makeTogether(std::vector<Making>& makings) {
  Together together(makings);
  std::vector<std::thread> threads;
  threads.reserve(makings.size());
  try {
    for (Making& making : makings) threads.emplace_back([&] { together.note(making, making.run()); });
  } catch (const std::exception& error) {
    for (size_t i = threads.size(); i < makings.size(); ++i) {
      together.note(makings[i], makings[i].giveUp(error.what()));
    }
  }
  for (std::thread& thread : threads) thread.join();
  return together.result();
}

}  // namespace

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
  const ncclResult_t made = makings.size() == 1 ? ended(makings[0], makings[0].run()) : makeTogether(makings);
  return made == ncclSuccess ? beside : made;
}

}  // namespace dfccl::nccl
