// A rank's collectives as graphs carry them out: each has a registration of its own for that, made when a stream that
// captures is first given a run of it.
#include <string>

#include "base/error.hpp"
#include "c_api/rank_context.hpp"
#include "world/submitting.hpp"

namespace dfccl::c_api {

void RankContext::capture(int id, const void* send, void* recv, void* stream) {
  backend().readyCapture(number_);
  // The driver may be somebody's until the device is idle, so while it is called nobody but who captures, or takes away
  // what is captured, waits for this thread.
  const std::lock_guard capturing(capturing_);
  const uint32_t index = readyToCapture(id, send, recv);
  const CapturedPlace last = backend().captureRun(number_, index, send, recv, stream);
  const std::lock_guard lock(mutex_);
  captured_.at(id).last = last;
}

/// Its registration for graphs, made where there is none. Under capturing_.
uint32_t RankContext::readyToCapture(int id, const void* send, void* recv) {
  const std::lock_guard lock(mutex_);
  const Registration& registration = get(id);
  if (registration.isOwnProgram) {
    throw Error(dfcclUnavailable,
                "Collective " + std::to_string(id) + " is a program of your own, which can't be part of a graph.",
                "Run it outside of the capture, or use a built-in collective.", {{"id", std::to_string(id)}});
  }
  auto found = captured_.find(id);
  if (found == captured_.end()) {
    CollectiveSpec spec = backend().specOf(number_, registration.index);
    spec.id = spec.id.ofCaptured();
    spec.signature.isCaptured = true;
    const uint32_t index = backend().registerCollective(number_, spec);
    found = captured_.emplace(id, CapturedCollective{index, backend().shapeOf(number_, index), {}, {}}).first;
  }
  CapturedCollective& captured = found->second;
  if (!isAllowed(captured.shape, send, recv)) {
    checkRun(captured.shape, backend().specOf(number_, captured.index), number_, send, recv);
  }
  if (!captured.known.hold(captured.shape, send, recv)) {
    askAboutMemory(backend(), number_, captured.index, captured.shape, captured.known, send, recv);
  }
  return captured.index;
}

void RankContext::waitInGraph(int id, void* stream) { backend().letGraphWait(number_, lastCaptured(id), stream); }

CapturedPlace RankContext::lastCaptured(int id) {
  const std::lock_guard lock(mutex_);
  const auto found = captured_.find(id);
  if (found == captured_.end()) {
    throw Error(dfcclInvalidArgument,
                "The stream captures a graph, which has no run of collective " + std::to_string(id) +
                    ": what was submitted before the capture can't be waited for in it.",
                "Wait for it before the capture begins.", {{"id", std::to_string(id)}});
  }
  return found->second.last;
}

uint64_t RankContext::endedInGraphs() { return backend().endedInGraphs(number_); }

void RankContext::abort(int id) {
  const std::lock_guard lock(mutex_);
  backend().abortCollective(number_, get(id).index);
  const auto found = captured_.find(id);
  if (found != captured_.end()) backend().abortCollective(number_, found->second.index);
}

/// Under both locks. @pre the collective's own registration has ended, or is about to.
void RankContext::removeCaptured(int id) {
  const auto found = captured_.find(id);
  if (found == captured_.end()) return;
  backend().unregisterCollective(number_, found->second.index, 0);
  captured_.erase(found);
}

}  // namespace dfccl::c_api
