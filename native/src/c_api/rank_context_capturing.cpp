// A rank's collectives as graphs carry them out: each has a registration of its own for that, made when a stream that
// captures is first given a run of it.
#include <string>

#include "base/error.hpp"
#include "c_api/rank_context.hpp"
#include "world/submitting.hpp"

namespace dfccl::c_api {

void RankContext::capture(int id, uint64_t capture, const void* send, void* recv, void* stream) {
  backend().readyCapture(number_);
  // The driver may be somebody's until the device is idle, so while it is called nobody but who captures, or takes away
  // what is captured, waits for this thread.
  const std::lock_guard capturing(capturing_);
  const CapturedCollective captured = readyToCapture(id, capture, send, recv);
  const CapturedPlace last = backend().captureRun(number_, captured.index, send, recv, stream);
  const std::lock_guard lock(mutex_);
  captured_.at(id).find(captured.graph)->last = last;
}

/// Its registration for the graph, made where there is none. Under capturing_.
CapturedCollective RankContext::readyToCapture(int id, uint64_t capture, const void* send, void* recv) {
  const std::lock_guard lock(mutex_);
  const Registration& registration = get(id);
  if (registration.isOwnProgram) {
    throw Error(dfcclUnavailable,
                "Collective " + std::to_string(id) + " is a program of your own, which can't be part of a graph.",
                "Run it outside of the capture, or use a built-in collective.", {{"id", std::to_string(id)}});
  }
  CapturedCollectives& all = captured_[id];
  const GraphNumbers::Number number = all.numbers.of(capture);
  try {
    if (all.find(number.graph) == nullptr) {
      forgetGoneGraphs(all);
      all.graphs.reserve(all.graphs.size() + 1);
      const uint32_t index = registerForGraph(registration.index, number.graph);
      all.graphs.push_back({number.graph, index, backend().shapeOf(number_, index), {}, {}});
    }
    CapturedCollective& captured = *all.find(number.graph);
    if (!isAllowed(captured.shape, send, recv)) {
      checkRun(captured.shape, backend().specOf(number_, captured.index), number_, send, recv);
    }
    if (!captured.known.hold(captured.shape, send, recv)) {
      askAboutMemory(backend(), number_, captured.index, captured.shape, captured.known, send, recv);
    }
    return captured;
  } catch (...) {
    if (number.isNew) all.numbers.takeBack();
    throw;
  }
}

/// Where there is no room, what gone graphs had of other ids serves. Under both locks.
uint32_t RankContext::registerForGraph(uint32_t index, uint32_t graph) {
  CollectiveSpec spec = backend().specOf(number_, index);
  spec.id = spec.id.ofCaptured(graph);
  spec.signature.graph = graph;
  try {
    return backend().registerCollective(number_, spec);
  } catch (const Error& error) {
    if (error.status() != dfcclOutOfMemory) throw;
  }
  for (auto& [id, captured] : captured_) forgetGoneGraphs(captured);
  return backend().registerCollective(number_, spec);
}

/// Their numbers don't come again, so nobody has to find what they had.
void RankContext::forgetGoneGraphs(CapturedCollectives& captured) {
  for (size_t i = 0; i < captured.graphs.size();) {
    if (isForgotten(captured.graphs[i].index)) {
      captured.graphs.erase(captured.graphs.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

bool RankContext::isForgotten(uint32_t index) {
  if (backend().isAborted(number_, index) && !backend().isQuarantineOver(number_, index)) return false;
  try {
    backend().unregisterCollective(number_, index, 0, Departure::forNow);
    return true;
  } catch (const Error& error) {
    if (error.status() == dfcclInUse) return false;  // its graph is still there
    throw;
  }
}

void RankContext::waitInGraph(int id, uint64_t capture, void* stream) {
  backend().letGraphWait(number_, lastCaptured(id, capture), stream);
}

CapturedPlace RankContext::lastCaptured(int id, uint64_t capture) {
  const std::lock_guard lock(mutex_);
  const auto found = captured_.find(id);
  if (found == captured_.end() || found->second.graphs.empty()) {
    throw Error(dfcclInvalidArgument,
                "The stream captures a graph, which has no run of collective " + std::to_string(id) +
                    ": what was submitted before the capture can't be waited for in it.",
                "Wait for it before the capture begins.", {{"id", std::to_string(id)}});
  }
  const auto& graphs = found->second.graphs;
  const auto here = std::ranges::find_if(graphs, [&](const auto& graph) { return graph.last.capture == capture; });
  return here != graphs.end() ? here->last : graphs.back().last;
}

uint64_t RankContext::endedInGraphs() { return backend().endedInGraphs(number_); }

void RankContext::abort(int id) {
  const std::lock_guard lock(mutex_);
  backend().abortCollective(number_, get(id).index);
  const auto found = captured_.find(id);
  if (found == captured_.end()) return;
  for (const CapturedCollective& graph : found->second.graphs) backend().abortCollective(number_, graph.index);
}

/// Under both locks. @pre the collective's own registration has ended, or is about to.
void RankContext::removeCaptured(int id) {
  const auto found = captured_.find(id);
  if (found == captured_.end()) return;
  std::vector<CapturedCollective>& graphs = found->second.graphs;
  for (; !graphs.empty(); graphs.pop_back()) backend().unregisterCollective(number_, graphs.back().index, 0);
  captured_.erase(found);
}

}  // namespace dfccl::c_api
