// The part of CUDA's runtime that is about graphs and captures, over simulated devices.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "simulated/call.hpp"
#include "simulated/current_device.hpp"
#include "simulated/graph.hpp"

using namespace dfccl::gpu::simulated;

namespace {

template <class Act>
cudaError_t onCapture(cudaStream_t handle, const Act& act) {
  Stream* const stream = Device::findStream(handle, currentDevice);
  if (stream == nullptr) return answer(errorOfMissing(handle));
  const Call call(Device::at(stream->device()), unkindness().lockedCalls);
  return answer(act(*stream));
}

Graph* graphOf(cudaGraph_t handle) { return reinterpret_cast<Graph*>(handle); }

/// What is left unwaited for by the stream that the capture began with.
bool isUnjoined(const Capture& capture) {
  const auto isJoined = [&](GraphNode* node) {
    const auto& ends = capture.origin->capturedBehind;
    return std::any_of(ends.begin(), ends.end(), [&](const GraphNode* end) { return Graph::isBehind(end, node); });
  };
  return !std::all_of(capture.joined.begin(), capture.joined.end(), [&](const Stream* stream) {
    return std::all_of(stream->capturedBehind.begin(), stream->capturedBehind.end(), isJoined);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  expectRuntime();
  std::swap(*mode, captureModeOfThread());
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  // Beside a module that is loaded it returns (docs/benchmarks/gpu/one/streams/driver-lock.txt).
  expectRuntime();
  const Stream* const stream = Device::findStream(handle, currentDevice);
  if (stream == nullptr) return answer(errorOfMissing(handle));
  *status = stream->capture != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return onCapture(handle, [=](Stream& stream) {
    if (stream.capture != nullptr) return cudaErrorIllegalState;
    stream.capture = std::make_shared<Capture>(mode);
    stream.capture->origin = &stream;
    stream.capturedBehind.clear();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return onCapture(handle, [=](Stream& stream) {
    *graph = nullptr;
    const std::shared_ptr<Capture> capture = stream.capture;
    if (capture == nullptr) return cudaErrorIllegalState;
    if (capture->origin != &stream) return cudaErrorStreamCaptureUnmatched;
    const bool hasFailed = isUnjoined(*capture);
    stream.capture = nullptr;
    for (Stream* joined : capture->joined) joined->capture = nullptr;
    if (capture->hasFailed) return cudaErrorStreamCaptureInvalidated;
    if (hasFailed) return cudaErrorStreamCaptureUnjoined;
    *graph = reinterpret_cast<cudaGraph_t>(new Graph(*capture->graph));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** behind,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  return onCapture(handle, [=](Stream& stream) {
    *status = stream.capture == nullptr   ? cudaStreamCaptureStatusNone
              : stream.capture->hasFailed ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
    if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
    if (id != nullptr) *id = stream.capture->id;
    if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(stream.capture->graph.get());
    if (behind != nullptr) *behind = reinterpret_cast<const cudaGraphNode_t*>(stream.capturedBehind.data());
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = stream.capturedBehind.size();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* nodes, const cudaGraphEdgeData*,
                                                size_t count, unsigned flags) {
  return onCapture(handle, [=](Stream& stream) {
    if (stream.capture == nullptr) return cudaErrorIllegalState;
    if (flags == cudaStreamSetCaptureDependencies) stream.capturedBehind.clear();
    for (size_t i = 0; i < count; ++i) stream.capturedBehind.push_back(reinterpret_cast<GraphNode*>(nodes[i]));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData*,
                                         size_t* count) {
  const std::vector<GraphNode*>& behind = reinterpret_cast<const GraphNode*>(handle)->behind;
  if (nodes != nullptr) std::memcpy(nodes, behind.data(), *count * sizeof *nodes);
  *count = behind.size();
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  const Graph& graph = *graphOf(handle);
  for (size_t i = 0; nodes != nullptr && i < *count; ++i) {
    nodes[i] = reinterpret_cast<cudaGraphNode_t>(graph.nodes[i].get());
  }
  *count = graph.nodes.size();
  return cudaSuccess;
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* payload, cudaHostFn_t destroy, unsigned, unsigned) {
  *object = reinterpret_cast<cudaUserObject_t>(new std::shared_ptr<UserObject>(new UserObject(payload, destroy)));
  return cudaSuccess;
}
/// The caller's reference moves to the graph: the only way in which it is called here.
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned, unsigned) {
  const std::unique_ptr<std::shared_ptr<UserObject>> moved(reinterpret_cast<std::shared_ptr<UserObject>*>(object));
  graphOf(graph)->kept.push_back(*moved);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  *made = reinterpret_cast<cudaGraphExec_t>(new std::shared_ptr<const Graph>(new Graph(*graphOf(graph))));
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t handle) {
  Stream* const stream = Device::findStream(handle, currentDevice);
  if (stream == nullptr) return answer(errorOfMissing(handle));
  const auto graph = *reinterpret_cast<std::shared_ptr<const Graph>*>(made);
  Device& device = Device::at(stream->device());
  if (stream->isUsed || !unkindness().firstGraphs.isOn()) {
    return device.launch(*stream, [graph] { graph->carryOut(); });
  }
  return device.launch(*stream, [graph, &device] { device.firstGraphs().carryOut([&] { graph->carryOut(); }); });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  *info = {};
  // Launches that are under way keep what they have.
  *reinterpret_cast<std::shared_ptr<const Graph>*>(made) = std::make_shared<const Graph>(*graphOf(graph));
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made) {
  delete reinterpret_cast<std::shared_ptr<const Graph>*>(made);
  return cudaSuccess;
}
cudaError_t cudaGraphCreate(cudaGraph_t* made, unsigned) {
  *made = reinterpret_cast<cudaGraph_t>(new Graph);
  return cudaSuccess;
}
cudaError_t cudaGraphClone(cudaGraph_t* made, cudaGraph_t graph) {
  *made = reinterpret_cast<cudaGraph_t>(new Graph(*graphOf(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* behind,
                                       size_t count, cudaGraph_t child) {
  const auto* const nodes = reinterpret_cast<GraphNode* const*>(behind);
  const std::vector<GraphNode*> before(nodes, nodes + count);
  const auto part = std::make_shared<const Graph>(*graphOf(child));
  *node = reinterpret_cast<cudaGraphNode_t>(graphOf(graph)->add(before, [part] { part->carryOut(); }));
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graphOf(graph);
  return cudaSuccess;
}
}
