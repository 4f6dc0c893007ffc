#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "simulated/graph.hpp"
#include "simulated/hardware_queue.hpp"

namespace dfccl::gpu::simulated {

/// A stream of a simulated device. What it was given is done also when it is gone.
class Stream {
 public:
  /// Who waits for whom without being told to.
  enum class Order { legacy, withLegacy, free };

  Stream(int device, int priority, Order order, HardwareQueue& queue, LoadBarrier& barrier)
      : device_(device), priority_(priority), order_(order), queue_(queue), barrier_(barrier) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int device() const { return device_; }
  int priority() const { return priority_; }
  Order order() const { return order_; }

  /// What waits, or acts on the host: it keeps the queue's head, and is no work of the device's.
  void put(std::function<void()> work) { put(std::move(work), HardwareQueue::Kind::wait); }
  /// What the device does, and is soon done.
  void putBrief(std::function<void()> work) { put(std::move(work), HardwareQueue::Kind::brief); }
  /// What goes on for long without keeping other streams waiting.
  void putKernel(std::function<void()> kernel) { put(std::move(kernel), HardwareQueue::Kind::kernel); }
  /// As putBrief(), but on the caller's thread, if nothing is before it.
  void putShort(const std::function<void()>& work);
  bool isIdle() const { return last().isReached(); }
  void synchronize() const { last().await(); }
  /// Behind everything that it has been given.
  StreamPosition last() const;

  /// Of the graph that it captures, if it does; and what its next node comes behind. Under the context's lock.
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> capturedBehind;
  std::atomic<bool> isUsed{false};  // it has been given a kernel or a copy
  void captureNode(std::function<void()> work) {
    capturedBehind = {capture->graph->add(capturedBehind, std::move(work))};
  }
  std::atomic<bool> isDestroyed{false};
  /// Of no other stream, also after this one is gone.
  const unsigned long long id = ++made;

 private:
  void put(std::function<void()> work, HardwareQueue::Kind kind);
  void enqueue(std::function<void()> work, HardwareQueue::Kind kind);

  static inline std::atomic<unsigned long long> made{0};

  const int device_;
  const int priority_;
  const Order order_;
  HardwareQueue& queue_;
  LoadBarrier& barrier_;  // the device's
  const std::shared_ptr<StreamProgress> progress_ = std::make_shared<StreamProgress>();
};

}  // namespace dfccl::gpu::simulated
