#include "simulated/device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <shared_mutex>
#include <thread>

#include "simulated/call.hpp"
#include "simulated/modules.hpp"
#include "simulated/slices.hpp"
#include "simulated/unkindness.hpp"

namespace dfccl::gpu::simulated {
namespace {

/// All streams that were ever made, so that a handle is never another one's: what a program does with a handle that it
/// has destroyed is then always the same.
struct Handles {
  std::shared_mutex mutex;
  std::map<const void*, std::shared_ptr<Stream>> streams;
};
Handles& handles() {
  static auto& only = *new Handles;
  return only;
}

Stream* madeStream(const void* handle) {
  Handles& all = handles();
  const std::shared_lock lock(all.mutex);
  const auto found = all.streams.find(handle);
  return found != all.streams.end() ? found->second.get() : nullptr;
}

/// CUDA's number, unless CUDA_DEVICE_MAX_CONNECTIONS says another.
size_t hardwareQueues() {
  const char* const wanted = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  return wanted != nullptr ? static_cast<size_t>(std::clamp(std::atoi(wanted), 1, 32)) : 8;
}

/// The shortest that was measured (decision 28). The library takes its calls that follow faster for calls with no first
/// launch in between.
void takeAsLongAsAFirstLaunch() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
}

}  // namespace

int Device::count() {
  const char* wanted = std::getenv("SIMULATED_DEVICES");
  return wanted != nullptr ? std::max(0, std::atoi(wanted)) : 4;
}

Device& Device::at(int number) {
  // Never destroyed: streams may still be at work when the process ends.
  static auto& all = *new std::vector<std::unique_ptr<Device>>();
  static std::once_flag isMade;
  std::call_once(isMade, [] {
    for (int i = 0; i < count(); ++i) all.push_back(std::unique_ptr<Device>(new Device(i)));
  });
  return *all.at(static_cast<size_t>(number));
}

Device::Device(int number)
    : number_(number),
      own_(std::make_shared<Stream>(number, kLeastPriority, Stream::Order::legacy, nextQueue(), barrier_)),
      streams_{own_} {}

HardwareQueue& Device::nextQueue() {
  const bool isShared = unkindness().sharedQueues.isOn();
  if (isShared && queues_.size() >= hardwareQueues()) return *queues_[nextQueue_++ % hardwareQueues()];
  ++nextQueue_;
  queues_.push_back(std::make_unique<HardwareQueue>(number_, gate_));
  return *queues_.back();
}

Stream* Device::findStream(const void* handle, int currentDevice) {
  if (handle == nullptr || handle == cudaStreamLegacy) return at(currentDevice).own_.get();
  if (handle == cudaStreamPerThread) return &at(currentDevice).streamOfThread();
  Stream* const made = madeStream(handle);
  return made != nullptr && !made->isDestroyed ? made : nullptr;
}

bool Device::hadStream(const void* handle) {
  const Stream* const made = madeStream(handle);
  return made != nullptr && made->isDestroyed;
}

Stream& Device::streamOf(const void* handle, int currentDevice) {
  Stream* const found = findStream(handle, currentDevice);
  if (found != nullptr) return *found;
  Stream* const made = madeStream(handle);
  if (made == nullptr) std::abort();  // was never one
  return *made;
}

Stream& Device::makeStream(int priority, Stream::Order order) {
  const int bounded = std::clamp(priority, kGreatestPriority, kLeastPriority);
  const std::lock_guard lock(listing_);
  // Here, where they are made, and not in each call: else programs that make streams all the time list all of them.
  std::erase_if(streams_, [](const auto& known) { return known->isDestroyed && known->isIdle(); });
  const auto made = std::make_shared<Stream>(number_, bounded, order, nextQueue(), barrier_);
  streams_.push_back(made);
  const std::lock_guard handlesLock(handles().mutex);
  handles().streams[made.get()] = made;
  return *made;
}

void Device::destroyStream(Stream& stream) { stream.isDestroyed = true; }

Stream& Device::streamOfThread() {
  thread_local std::map<int, Stream*> mine;
  Stream*& stream = mine[number_];
  if (stream == nullptr) stream = &makeStream(kLeastPriority, Stream::Order::withLegacy);
  return *stream;
}

cudaError_t Device::launchOf(Kernel which, Stream& stream, std::function<void()> kernel, bool isShort) {
  Call call(*this);
  if (stream.isDestroyed) return answer(cudaErrorContextIsDestroyed);
  if (stream.capture != nullptr) {
    stream.captureNode(std::move(kernel));
    return cudaSuccess;
  }
  const bool isFirst = !kernels_.contains(which);
  const bool hasLoaded = load(which);
  if (unkindness().modules.isOn() && unkindness().loadBarrier.isOn()) {
    if (hasLoaded) call.letOthersIn();
    if (hasLoaded || (isFirst && unkindness().kernelBarrier.isOn())) {
      raiseBarrier();
      takeAsLongAsAFirstLaunch();
    }
  }
  order(stream);
  stream.isUsed = true;
  isShort ? stream.putBrief(std::move(kernel)) : stream.putKernel(std::move(kernel));
  return cudaSuccess;
}

void Device::copy(Stream& stream, const std::function<void()>& work) {
  order(stream);
  stream.isUsed = true;
  const bool isQueued = unkindness().queuedCopies.isOn() || isSliced();
  isQueued ? stream.putBrief(work) : stream.putShort(work);
}

bool Device::load(Kernel kernel) {
  kernels_.insert(kernel);
  if (!modules_.insert(kernel.module).second) return false;
  noteModuleLoad(kernel.module);
  if (unkindness().modules.isOn()) awaitIdle();
  return true;
}

void Device::raiseBarrier() {
  barrier_.raise([this] {
    std::vector<StreamPosition> places;
    for (const auto& stream : allStreams()) places.push_back(stream->last());
    return places;
  });
}

void Device::order(Stream& stream) {
  if (stream.order() == Stream::Order::free || !unkindness().legacyOrder.isOn()) return;
  const auto waitsFor = [&](const Stream& other) {
    const StreamPosition place = other.last();
    if (!place.isReached()) stream.put([place] { place.await(); });
  };
  if (stream.order() == Stream::Order::withLegacy) return waitsFor(*own_);
  for (const auto& other : allStreams()) {
    if (other->order() == Stream::Order::withLegacy) waitsFor(*other);
  }
}

std::vector<std::shared_ptr<Stream>> Device::allStreams() {
  const std::lock_guard lock(listing_);
  return streams_;
}

void Device::awaitIdle() {
  ++idleWaiters_;
  idleWaiters_.notify_all();
  for (const auto& stream : allStreams()) stream->synchronize();
  --idleWaiters_;
}

}  // namespace dfccl::gpu::simulated
