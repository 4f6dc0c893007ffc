#pragma once
// What streams of simulated devices capture: nodes, each behind others. A launch of what was made of it does what is
// behind nothing else at once, in any order and side by side.
#include <driver_types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace dfccl::gpu::simulated {

class Stream;

struct GraphNode {
  std::function<void()> work;
  std::vector<GraphNode*> behind;
};

/// Ends with the last graph that holds it, or that was made of one which does.
struct UserObject {
  UserObject(void* payload, cudaHostFn_t destroy) : payload(payload), destroy(destroy) {}
  ~UserObject() { destroy(payload); }
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;

  void* const payload;
  const cudaHostFn_t destroy;
};

struct Graph {
  std::vector<std::shared_ptr<GraphNode>> nodes;  // each behind earlier ones only
  std::vector<std::shared_ptr<UserObject>> kept;

  GraphNode* add(std::vector<GraphNode*> behind, std::function<void()> work);
  /// Does all of it.
  void carryOut() const;
  /// Whether a node comes behind another, or is it.
  static bool isBehind(const GraphNode* node, const GraphNode* other);
};

/// Of a stream, and of all that have waited for it since.
struct Capture {
  explicit Capture(cudaStreamCaptureMode mode);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  const unsigned long long id = ++made;
  const cudaStreamCaptureMode mode;
  const std::thread::id thread = std::this_thread::get_id();
  const std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Stream* origin = nullptr;
  std::vector<Stream*> joined;
  std::atomic<bool> hasFailed{false};  // a call came that it doesn't allow

 private:
  static inline std::atomic<unsigned long long> made{0};
};

/// As cudaThreadExchangeStreamCaptureMode() has it, of this thread.
cudaStreamCaptureMode& captureModeOfThread();
/// For calls that CUDA allows nobody to make while a stream captures, but threads that say that it's no matter.
/// @return whether this is such a call; then the captures have failed.
bool endsCaptures();

}  // namespace dfccl::gpu::simulated
