#include "c_api/open_batch.hpp"

#include <algorithm>
#include <utility>

#include "c_api/last_error.hpp"
#include "matching/batch.hpp"
#include "world/user_callback.hpp"

namespace dfccl::c_api {
namespace {

thread_local std::vector<OpenBatch> openBatches;

/// The requests of a batch, whose handles the caller gets only if all of it could be submitted.
class Requests {
 public:
  Requests(uint32_t runs, dfcclRequest_t* request)
      : whole_(Request::make(std::max(1u, runs), request != nullptr ? 2 : 1, nullptr)), isEmpty_(runs == 0) {
    if (request != nullptr) wanted_.push_back({&whole_, whole_.handle.load(order::relaxed), request});
  }
  ~Requests() {
    if (areGiven_) return;
    for (const Wanted& one : wanted_) {
      if (areSubmitted_) {
        if (one.made->parts().empty()) one.made->partIsOver(dfcclAborted);
        one.made->endHandle(one.handle);
      } else if (one.made != &whole_) {
        one.made->drop();
      }
    }
    if (!areSubmitted_) whole_.drop();
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  Request& whole() { return whole_; }
  void addWithin(uint32_t firstPart, uint32_t parts, dfcclRequest_t* request) {
    wanted_.reserve(wanted_.size() + 1);
    Request& made = Request::makeWithin(whole_, firstPart, parts);
    wanted_.push_back({&made, made.handle.load(order::relaxed), request});
  }
  /// Or about to be: they end by themselves.
  void areSubmitted() { areSubmitted_ = true; }
  void giveHandles() {
    for (const Wanted& one : wanted_) *one.to = reinterpret_cast<dfcclRequest_t>(one.handle);
    areGiven_ = true;
    for (const Wanted& one : wanted_) {
      if (one.made != &whole_ && one.made->parts().empty()) one.made->partIsOver(dfcclSuccess);
    }
    if (isEmpty_) whole_.partIsOver(dfcclSuccess);
  }

 private:
  struct Wanted {
    Request* made;
    uint64_t handle;
    dfcclRequest_t* to;
  };

  Request& whole_;
  const bool isEmpty_;
  bool areSubmitted_ = false, areGiven_ = false;
  std::vector<Wanted> wanted_;
};

}  // namespace

OpenBatch* OpenBatch::innermost() {
  const uint64_t callback = UserCallback::current();
  // Begun in a callback that has returned without ending it.
  while (!openBatches.empty() && openBatches.back().callback_ > callback) drop();
  return openBatches.empty() || openBatches.back().callback_ != callback ? nullptr : &openBatches.back();
}

void OpenBatch::begin() {
  openBatches.emplace_back().callback_ = UserCallback::current();
  ++openCount_;
}

void OpenBatch::drop() {
  openBatches.pop_back();
  --openCount_;
}

OpenBatch OpenBatch::end() {
  if (innermost() == nullptr) {
    refuseArgument("No batch of this thread is open.", "Call dfcclBatchBegin first, on the same thread.");
  }
  OpenBatch ended = std::move(openBatches.back());
  drop();
  return ended;
}

void OpenBatch::add(dfcclGroup_t group, std::vector<MatchedRun> runs, dfcclRequest_t* request) {
  operations_.push_back({group, std::move(runs), request});
}

std::vector<BatchedRun> OpenBatch::runs() const {
  std::vector<BatchedRun> all;
  all.reserve(operations_.size());
  OpenWorld* world = nullptr;
  for (const Operation& operation : operations_) {
    const GroupHandle& group = groupOf(operation.group);  // it may have been destroyed since
    OpenWorld& its = group.context->openWorld();
    if (world != nullptr && world != &its)
      refuseArgument("The batch has groups of different worlds.", "Open a batch for each world.");
    world = &its;
    for (const MatchedRun& run : operation.runs) all.push_back({&group.matching(), group.group, run, nullptr});
  }
  return all;
}

void OpenBatch::submit(dfcclRequest_t* request) {
  std::vector<BatchedRun> batched = runs();
  const auto count = static_cast<uint32_t>(batched.size());
  Requests made(count, request);
  RequestPart* part = made.whole().parts().data();
  for (const Operation& operation : operations_) {
    const auto parts = static_cast<uint32_t>(operation.runs.size());
    if (operation.request != nullptr) made.addWithin(part - made.whole().parts().data(), parts, operation.request);
    for (uint32_t i = 0; i < parts; ++i) (part++)->context = groupOf(operation.group).context->handle();
  }
  for (uint32_t i = 0; i < count; ++i) batched[i].part = &made.whole().parts()[i];
  made.areSubmitted();
  submitTogether(batched);
  made.giveHandles();
}

}  // namespace dfccl::c_api
