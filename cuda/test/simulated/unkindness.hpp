#pragma once
#include <atomic>
#include <cstdint>

namespace dfccl::gpu::simulated {

/// One way in which CUDA is unkind to its callers, or a number that goes with it: from an environment variable when the
/// process first uses one, or as a test sets it. README.md has the table.
class Switch {
 public:
  Switch(const char* variable, int64_t otherwise);
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

  int64_t value() const { return value_.load(std::memory_order_relaxed); }
  bool isOn() const { return value() != 0; }
  /// Of a number of times. @return whether there was one left.
  bool takeOne() {
    int64_t left = value();
    while (left > 0 && !value_.compare_exchange_weak(left, left - 1)) {
    }
    return left > 0;
  }
  void set(int64_t value) { value_.store(value, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_;
};

struct Unkindness {
  /// SIMULATED_LOCKED_CALLS: not only launches and copies wait for the context's lock, but every call that allocates,
  /// frees, exports, maps, makes, asks or synchronizes.
  Switch lockedCalls{"SIMULATED_LOCKED_CALLS", 1};
  /// SIMULATED_LOCKED_ATTRIBUTES: questions about a pointer too.
  Switch lockedAttributes{"SIMULATED_LOCKED_ATTRIBUTES", 0};
  /// SIMULATED_LOCKED_MEMORY_OPERATIONS: cuStreamWaitValue32 and cuStreamWriteValue32 too.
  Switch lockedMemoryOperations{"SIMULATED_LOCKED_MEMORY_OPERATIONS", 0};
  /// SIMULATED_LOCKED_LEGACY_OPERATIONS: those of the default stream, and of streams that synchronize with it.
  Switch lockedLegacyOperations{"SIMULATED_LOCKED_LEGACY_OPERATIONS", 1};
  /// SIMULATED_IDLE_FREES: whoever frees memory, lets go of the host's or of another process's, or sets the stack's
  /// limit, holds the lock until the device is idle.
  Switch idleFrees{"SIMULATED_IDLE_FREES", 1};
  /// SIMULATED_IDLE_IPC: whoever maps another process's memory does so too.
  Switch idleIpc{"SIMULATED_IDLE_IPC", 0};
  /// SIMULATED_MODULES: the first launch of a kernel loads its module, and holds the lock until the device is idle.
  Switch modules{"SIMULATED_MODULES", 1};
  /// SIMULATED_LOAD_BARRIER: such a launch then lets those in who wait for the lock, and keeps back all that streams
  /// are given behind it until all that they were given before is done.
  Switch loadBarrier{"SIMULATED_LOAD_BARRIER", 1};
  /// SIMULATED_KERNEL_BARRIER: the first launch of another kernel of a module that is loaded does so too; it waits for
  /// nobody.
  Switch kernelBarrier{"SIMULATED_KERNEL_BARRIER", 1};
  /// SIMULATED_FIRST_GRAPHS: of two graphs before which their streams had no kernel and no copy, one begins when the
  /// other is over.
  Switch firstGraphs{"SIMULATED_FIRST_GRAPHS", 1};
  /// SIMULATED_SHARED_QUEUES: streams share the hardware's queues. Off: each has one of its own.
  Switch sharedQueues{"SIMULATED_SHARED_QUEUES", 1};
  /// SIMULATED_QUEUED_COPIES: a copy goes through its stream's hardware queue also where its stream has nothing before.
  Switch queuedCopies{"SIMULATED_QUEUED_COPIES", 0};
  /// SIMULATED_LEGACY_ORDER: the default stream and those that were made without cudaStreamNonBlocking wait for each
  /// other.
  Switch legacyOrder{"SIMULATED_LEGACY_ORDER", 1};
  /// SIMULATED_LAUNCH_QUEUE: how much a stream takes before it blocks its caller; 0: any number.
  Switch launchQueue{"SIMULATED_LAUNCH_QUEUE", 1024};
  /// SIMULATED_LATE_LAUNCHES: a seed; kernels begin late, by chance. 0: at once.
  Switch lateLaunches{"SIMULATED_LATE_LAUNCHES", 0};
  /// SIMULATED_PREEMPTIONS: a seed; threads lose their processor before, in and after calls, by chance. 0: they don't.
  Switch preemptions{"SIMULATED_PREEMPTIONS", 0};
  /// SIMULATED_REFUSED_STORES: so many of the next cuStreamWriteValue32 fail.
  Switch refusedStores{"SIMULATED_REFUSED_STORES", 0};
  /// SIMULATED_REFUSED_LAUNCHES: so many of the next launches of runs in streams fail.
  Switch refusedLaunches{"SIMULATED_REFUSED_LAUNCHES", 0};
  /// SIMULATED_UNPREPARED: the engine's kernels for streams are loaded when the first of each is launched.
  Switch unprepared{"SIMULATED_UNPREPARED", 0};
  /// SIMULATED_MULTIPROCESSORS: how many blocks of daemons, and runs that are kernels in streams, a device has room for
  /// at a time; 0: any number.
  Switch multiprocessors{"SIMULATED_MULTIPROCESSORS", 0};
  /// SIMULATED_BOASTS: it says that it has any number all the same.
  Switch boasts{"SIMULATED_BOASTS", 0};
  /// SIMULATED_STOPPED_KEEPERS: the library's own threads that start daemons wait for the driver until it is off again.
  Switch stoppedKeepers{"SIMULATED_STOPPED_KEEPERS", 0};
  /// SIMULATED_SLICE_MICROS: how long a process has a device for itself, where SIMULATED_SLICES names the file that the
  /// processes share.
  Switch sliceMicros{"SIMULATED_SLICE_MICROS", 2000};
};

/// This process's.
Unkindness& unkindness();

/// A switch in another position for a while.
class Switched {
 public:
  Switched(Switch& which, int64_t value) : which_(which), former_(which.value()) { which.set(value); }
  ~Switched() { which_.set(former_); }
  Switched(const Switched&) = delete;
  Switched& operator=(const Switched&) = delete;

 private:
  Switch& which_;
  const int64_t former_;
};

}  // namespace dfccl::gpu::simulated
