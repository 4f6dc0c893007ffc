// The part of CUDA's runtime that is about events: an event is a place in what a stream was given.
#include <cuda_runtime_api.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "simulated/call.hpp"
#include "simulated/current_device.hpp"

using namespace dfccl::gpu::simulated;

namespace {

struct Event {
  explicit Event(int device) : device(device) {}

  const int device;
  std::mutex mutex;
  StreamPosition place;              // recorded last ...
  std::shared_ptr<Capture> capture;  // ... or in a graph, behind these
  std::vector<GraphNode*> behind;

  StreamPosition get() {
    const std::lock_guard lock(mutex);
    return place;
  }
};

struct Events {
  std::mutex mutex;
  std::map<uintptr_t, std::shared_ptr<Event>> all;
  uintptr_t last = 0;

  static Events& get() {
    static auto& only = *new Events;
    return only;
  }
  std::shared_ptr<Event> find(cudaEvent_t handle) {
    const std::lock_guard lock(mutex);
    const auto found = all.find(reinterpret_cast<uintptr_t>(handle));
    return found != all.end() ? found->second : nullptr;
  }
};

template <class Act>
cudaError_t onEvent(cudaEvent_t handle, const Act& act) {
  const std::shared_ptr<Event> event = Events::get().find(handle);
  if (event == nullptr) return answer(cudaErrorInvalidResourceHandle);
  Call call(Device::at(event->device), unkindness().lockedCalls);
  return answer(act(*event, call));
}

}  // namespace

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  const Call call(currentOne(), unkindness().lockedCalls);
  Events& events = Events::get();
  const std::lock_guard lock(events.mutex);
  events.all[++events.last] = std::make_shared<Event>(currentDevice);
  *event = reinterpret_cast<cudaEvent_t>(events.last);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return onEvent(handle, [=](Event&, Call&) {
    Events& events = Events::get();
    const std::lock_guard lock(events.mutex);
    return events.all.erase(reinterpret_cast<uintptr_t>(handle)) != 0 ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t streamHandle) {
  Stream* const stream = Device::findStream(streamHandle, currentDevice);
  if (stream == nullptr) return answer(errorOfMissing(streamHandle));
  return onEvent(handle, [=](Event& event, Call&) {
    if (event.device != stream->device()) return cudaErrorInvalidResourceHandle;
    event.capture = stream->capture;
    event.behind = stream->capturedBehind;
    if (event.capture != nullptr) return cudaSuccess;
    Device::at(stream->device()).order(*stream);
    stream->put([] {});
    const StreamPosition place = stream->last();
    const std::lock_guard lock(event.mutex);
    event.place = place;
    return cudaSuccess;
  });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t streamHandle, cudaEvent_t handle, unsigned) {
  Stream* const stream = Device::findStream(streamHandle, currentDevice);
  if (stream == nullptr) return answer(errorOfMissing(streamHandle));
  const std::shared_ptr<Event> event = Events::get().find(handle);
  if (event == nullptr) return answer(cudaErrorInvalidResourceHandle);
  const Call call(Device::at(stream->device()), unkindness().lockedCalls);
  if (event->capture != nullptr) {
    if (stream->capture == nullptr) {
      stream->capture = event->capture;
      stream->capturedBehind.clear();
      event->capture->joined.push_back(stream);
    }
    std::vector<GraphNode*>& behind = stream->capturedBehind;
    behind.insert(behind.end(), event->behind.begin(), event->behind.end());
    return cudaSuccess;
  }
  stream->put([place = event->get()] { place.await(); });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return onEvent(handle, [](Event& event, Call&) { return event.get().isReached() ? cudaSuccess : cudaErrorNotReady; });
}
cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return onEvent(handle, [](Event& event, Call& call) {
    call.release();
    event.get().await();
    return cudaSuccess;
  });
}
cudaError_t cudaEventElapsedTime(float* millis, cudaEvent_t begin, cudaEvent_t end) {
  *millis = 0;
  for (const cudaEvent_t event : {begin, end}) {
    if (const cudaError_t error = cudaEventQuery(event); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
}
