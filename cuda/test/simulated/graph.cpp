#include "simulated/graph.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace dfccl::gpu::simulated {
namespace {

struct Captures {
  std::mutex mutex;
  std::vector<Capture*> underWay;

  static Captures& get() {
    static auto& only = *new Captures;
    return only;
  }
};

}  // namespace

Capture::Capture(cudaStreamCaptureMode mode) : mode(mode) {
  const std::lock_guard lock(Captures::get().mutex);
  Captures::get().underWay.push_back(this);
}

Capture::~Capture() {
  const std::lock_guard lock(Captures::get().mutex);
  std::erase(Captures::get().underWay, this);
}

cudaStreamCaptureMode& captureModeOfThread() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

bool endsCaptures() {
  const cudaStreamCaptureMode mine = captureModeOfThread();
  if (mine == cudaStreamCaptureModeRelaxed) return false;
  bool isAny = false;
  const std::lock_guard lock(Captures::get().mutex);
  for (Capture* capture : Captures::get().underWay) {
    const bool isOwn = capture->thread == std::this_thread::get_id();
    if (capture->mode == cudaStreamCaptureModeRelaxed) continue;
    if (!isOwn && (mine != cudaStreamCaptureModeGlobal || capture->mode != cudaStreamCaptureModeGlobal)) continue;
    capture->hasFailed = isAny = true;
  }
  return isAny;
}

GraphNode* Graph::add(std::vector<GraphNode*> behind, std::function<void()> work) {
  nodes.push_back(std::make_shared<GraphNode>(GraphNode{std::move(work), std::move(behind)}));
  return nodes.back().get();
}

bool Graph::isBehind(const GraphNode* node, const GraphNode* other) {
  return node == other || std::any_of(node->behind.begin(), node->behind.end(),
                                      [&](const GraphNode* before) { return isBehind(before, other); });
}

void Graph::carryOut() const {
  std::map<const GraphNode*, size_t> missing;
  std::multimap<const GraphNode*, GraphNode*> followers;
  std::vector<GraphNode*> ready;
  for (const auto& node : nodes) {
    missing[node.get()] = node->behind.size();
    for (const GraphNode* before : node->behind) followers.emplace(before, node.get());
    if (node->behind.empty()) ready.push_back(node.get());
  }
  std::mutex mutex;
  std::condition_variable changed;
  size_t left = nodes.size();
  std::vector<std::thread> helpers;
  // The last one here, so that a dependency that was forgotten shows.
  std::unique_lock lock(mutex);
  const auto doOne = [&](GraphNode* node) {
    lock.unlock();
    node->work();
    lock.lock();
  };
  const auto isDone = [&](GraphNode* node) {
    --left;
    const auto [first, last] = followers.equal_range(node);
    for (auto at = first; at != last; ++at) {
      if (--missing[at->second] == 0) ready.push_back(at->second);
    }
    changed.notify_all();
  };
  while (left != 0) {
    if (ready.empty()) {
      changed.wait(lock);
      continue;
    }
    GraphNode* const mine = ready.back();
    ready.pop_back();
    for (GraphNode* other : std::exchange(ready, {})) {
      helpers.emplace_back([&, other] {
        other->work();
        const std::lock_guard helperLock(mutex);
        isDone(other);
      });
    }
    doOne(mine);
    isDone(mine);
  }
  lock.unlock();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace dfccl::gpu::simulated
