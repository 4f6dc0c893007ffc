#pragma once
#include <driver_types.h>

#include <compare>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "simulated/context_lock.hpp"
#include "simulated/first_graphs.hpp"
#include "simulated/multiprocessors.hpp"
#include "simulated/stream.hpp"

namespace dfccl::gpu::simulated {

/// The one that holds the engine's kernels. Those of tests have numbers from 0 on.
inline constexpr int kEngineModule = -1, kCapturedRunsModule = -2, kRetractableWaitsModule = -3;

/// Of a module. CUDA brings each to the device when it is first launched.
struct Kernel {
  int module;
  int number = 0;
  friend auto operator<=>(const Kernel&, const Kernel&) = default;
};

/// A simulated device as one process has it: its context, with a lock, modules, and streams that share hardware queues
/// in turn.
class Device {
 public:
  static constexpr int kLeastPriority = 0, kGreatestPriority = -5;

  /// SIMULATED_DEVICES, or 4.
  static int count();
  /// @pre 0 <= number < count()
  static Device& at(int number);
  /// The stream that a handle stands for: of this thread's device where it is one of CUDA's own.
  /// @return nullptr where there is none, or not any more.
  static Stream* findStream(const void* handle, int currentDevice);
  /// Whether there was one that has been destroyed.
  static bool hadStream(const void* handle);
  /// As findStream(), but a stream that was destroyed is found too: launches into it are refused.
  static Stream& streamOf(const void* handle, int currentDevice);

  Stream& makeStream(int priority, Stream::Order order = Stream::Order::free);
  void destroyStream(Stream& stream);
  /// CUDA's own for the thread that asks.
  Stream& streamOfThread();

  /// One of the engine's kernels. As CUDA does it on H200s (decision 20): while one thread waits for the device, no
  /// other launches anything there. What streams were given before goes on, and so do waits for values.
  cudaError_t launch(Stream& stream, std::function<void()> kernel, bool isShort = false) {
    return launchOf({kEngineModule}, stream, std::move(kernel), isShort);
  }
  cudaError_t launchOf(Kernel which, Stream& stream, std::function<void()> kernel, bool isShort);
  /// Copies are launched too. @pre the caller holds the context's lock, for these two as well:
  void copy(Stream& stream, const std::function<void()>& work);
  /// @return whether its module wasn't loaded yet.
  bool load(Kernel kernel);
  /// What a stream waits for without being told to, before it gets what the caller puts into it next.
  void order(Stream& stream);

  /// Until it has nothing to do that it had been given. Who holds the context's lock keeps more from coming.
  void awaitIdle();

  ContextLock& context() { return context_; }
  KernelGate& gate() { return gate_; }
  FirstGraphs& firstGraphs() { return firstGraphs_; }
  Multiprocessors& multiprocessors() { return multiprocessors_; }
  /// How many threads wait for it to be idle.
  uint32_t idleWaiters() const { return idleWaiters_; }
  void awaitIdleWaiter() const { idleWaiters_.wait(0); }
  /// A daemon's kernel is launched, and is over.
  void daemonLaunched() { ++daemons_; }
  void daemonLeft() {
    --daemons_;
    daemons_.notify_all();
  }
  void awaitDaemonsOut() const {
    for (uint32_t left = daemons_; left != 0; left = daemons_) daemons_.wait(left);
  }

 private:
  explicit Device(int number);
  HardwareQueue& nextQueue();
  void raiseBarrier();
  std::vector<std::shared_ptr<Stream>> allStreams();

  const int number_;
  KernelGate gate_;
  FirstGraphs firstGraphs_;
  Multiprocessors multiprocessors_;
  LoadBarrier barrier_;
  std::vector<std::unique_ptr<HardwareQueue>> queues_;
  size_t nextQueue_ = 0;
  const std::shared_ptr<Stream> own_;  // the one that nobody made
  ContextLock context_;
  std::set<int> modules_;     // loaded ones; under the context's lock
  std::set<Kernel> kernels_;  // those that were launched, or asked about; the same
  std::mutex listing_;
  std::vector<std::shared_ptr<Stream>> streams_;  // also destroyed ones, while they have something to do
  std::atomic<uint32_t> idleWaiters_{0};
  std::atomic<uint32_t> daemons_{0};
};

}  // namespace dfccl::gpu::simulated
