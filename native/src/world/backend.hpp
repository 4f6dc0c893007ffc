#pragma once
// What carries out the collectives of a world: threads of this process (CpuWorld, in cpu/), or daemons on GPUs
// (gpu::GpuWorld, in cuda/). The C API and the addon see no more of either than this, and the queues, which are the
// same for both.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/state/counters.hpp"
#include "trace/trace_track.hpp"
#include "world/captured_place.hpp"
#include "world/collective_spec.hpp"
#include "world/departure.hpp"
#include "world/known_memory.hpp"
#include "world/place_in_stream.hpp"
#include "world/presence.hpp"
#include "world/rank_queues.hpp"
#include "world/run_check.hpp"
#include "world/wait_graph.hpp"
#include "world/world_options.hpp"

namespace dfccl {

/// How far a member of a collective is.
struct MemberProgress {
  uint32_t rank;
  bool registered;
  uint64_t submitted;
  uint64_t finished;
  uint64_t issued = 0;  // where more than submitted, by its host: runs that its daemon hasn't heard of
};

/// A call without an id that a rank has made, and this one hasn't.
struct OtherCall {
  uint32_t rank;
  std::string difference;  // from the one that it was asked about: "count 999, not 1000"
};

/// A rank of another process that is gone, and what became of it. It won't come back.
struct LostRank {
  uint32_t rank;
  Presence presence;
};

/// Where the buffers of a run lie.
struct RunMemory {
  MemoryRange send, recv;
};

struct CounterReading {
  RankCounters rank;
  std::vector<BlockCounters> blocks;
};

class Backend {
 public:
  virtual ~Backend() = default;

  const WorldOptions& options() const { return options_; }
  uint32_t size() const { return options_.ranks; }
  /// Whether a rank is this process's.
  bool isLocal(uint32_t rank) const { return rank < size() && queues_[rank] != nullptr; }
  /// How many processes the ranks are in, as far as they compete for this machine's cores.
  virtual uint32_t processes() const { return 1; }
  /// Not behind a virtual function: submitting and delivering cost some nanoseconds. @pre isLocal(rank)
  RankQueues& queues(uint32_t rank) { return *queues_[rank]; }
  /// The queues and tables as the host sees them. On GPUs only the queues may be touched.
  virtual RankMemory& memory(uint32_t rank) = 0;

  /// Registers a collective on one rank; never waits for the others. @return its index, which submissions name.
  /// @throws Error
  virtual uint32_t registerCollective(uint32_t rank, const CollectiveSpec& spec) = 0;
  /// @param issuedRuns runs that this rank has submitted of it: all must have completed.
  /// @throws Error dfcclInUse, dfcclUnknownCollective
  virtual void unregisterCollective(uint32_t rank, uint32_t index, uint64_t issuedRuns,
                                    Departure departure = Departure::forGood) = 0;
  /// Runs that this rank had of it before it left for now; 0: it never has.
  virtual uint64_t runsBefore(uint32_t rank, uint32_t index) = 0;
  /// Gives an id up on all ranks, at once and without waiting: runs in flight complete as aborted, later ones too,
  /// until it is registered again. @throws Error dfcclUnknownCollective
  virtual void abortCollective(uint32_t rank, uint32_t index) = 0;
  /// That it is about to be given up, where many are: what is under way of it ends, so that giving up others waits for
  /// none of it.
  virtual void letEnd(uint32_t /*rank*/, uint32_t /*index*/) {}
  virtual bool isAborted(uint32_t rank, uint32_t index) = 0;
  /// How another rank registered it differently, where that showed only after both had; else "".
  virtual std::string whyAborted(uint32_t /*rank*/, uint32_t /*index*/) { return {}; }
  /// Whether no rank touches the buffers of an aborted id any more: only now may they be freed.
  virtual bool isQuarantineOver(uint32_t rank, uint32_t index) = 0;
  virtual CollectiveSpec specOf(uint32_t rank, uint32_t index) = 0;
  /// What the buffers of its runs must look like: see checkRun().
  virtual RunShape shapeOf(uint32_t rank, uint32_t index) = 0;
  /// Which members of a collective have registered it, and how many runs each has submitted.
  virtual std::vector<MemberProgress> explain(uint32_t rank, uint32_t index) = 0;
  /// Of a call without an id: what members have called with the same ranks and tag that this rank hasn't, where they
  /// disagree, say; of each the call that is most like it. On CPUs, of ranks of this machine.
  virtual std::vector<OtherCall> otherCalls(uint32_t /*rank*/, uint32_t /*index*/) { return {}; }

  /// The count of each member in the last run of a collective in which they differed; empty: there was none.
  virtual std::vector<uint64_t> mismatchedCounts(uint32_t /*rank*/, uint32_t /*index*/) { return {}; }

  /// The GPU that a rank is on; -1: none.
  virtual int deviceOf(uint32_t /*rank*/) const { return -1; }
  /// Whether buffers have to be asked about: checkMemory().
  bool checksMemory() const { return options_.backend == BackendKind::cuda; }
  /// @return the allocations that the buffers lie in.
  /// @throws Error dfcclInvalidArgument where the memory is none that this rank's daemon reaches.
  virtual RunMemory checkMemory(uint32_t /*rank*/, const CollectiveSpec&, const RunShape&, const void* /*send*/,
                                const void* /*recv*/) {
    return {};
  }

  /// A stream behind which a run is to be queued; whoever has it keeps others from queueing behind the same stream.
  class EnteredStream {
   public:
    virtual ~EnteredStream() = default;
    /// Queues the run: calls no driver, so whoever holds a lock may call it. @return as RankQueues::submit().
    virtual uint32_t submit(uint32_t index, const void* send, void* recv, RunCallback callback, void* argument,
                            RunWindows windows) = 0;
    /// Then, so that the stream comes to it. May wait for the driver, whose lock somebody may have until the device is
    /// idle. @throws Error dfcclSystemError
    virtual void arrive() = 0;
  };
  /// May wait for the driver. @return nothing: as many streams as there can be have runs on their way.
  /// @throws Error dfcclUnavailable where there are no streams, dfcclInvalidArgument
  virtual std::unique_ptr<EnteredStream> enterStream(uint32_t rank, void* stream);
  /// Queues a run that begins only when everything is done that a stream of the rank's GPU has been given.
  /// @return as RankQueues::submit(). @throws Error as enterStream(), arrive()
  uint32_t submitOnStream(uint32_t rank, uint32_t index, const void* send, void* recv, void* stream,
                          RunCallback callback, void* argument, RunWindows windows = {});
  static constexpr uint64_t kAllRuns = ~uint64_t{0};
  /// Lets a stream go on only when so many runs of a collective are over, of those that this rank has queued since it
  /// registered it. @throws Error the same
  virtual void waitOnStream(uint32_t rank, uint32_t index, void* stream, uint64_t runs = kAllRuns);
  /// Of which capture the stream is part: what it is given becomes part of a graph, and runs behind it are captured,
  /// then. @return nothing: it captures nothing. @throws Error the same
  virtual std::optional<uint64_t> captureOf(uint32_t /*rank*/, void* /*stream*/) { return std::nullopt; }
  /// Takes what the rank's next collective that is captured needs of the driver, so that its registration needs nothing
  /// more. May wait until the device is idle: to be called under no lock. @throws Error dfcclOutOfMemory
  virtual void readyCapture(uint32_t /*rank*/) {}
  /// Puts a run into the graph that the stream captures, behind what it has been given; the stream doesn't wait for it.
  /// @param index of a collective that was registered with signature.graph.
  /// @return what letGraphWait() takes. @throws Error dfcclInvalidArgument, dfcclUnavailable, dfcclSystemError
  virtual CapturedPlace captureRun(uint32_t rank, uint32_t index, const void* send, void* recv, void* stream);
  /// What the stream captures from now on comes behind a run of the same graph. @throws Error dfcclInvalidArgument: it
  /// captures nothing, or another graph; dfcclSystemError
  virtual void letGraphWait(uint32_t rank, const CapturedPlace& place, void* stream);
  /// Whether a launch of such a collective's waits for ranks that have yet to capture theirs.
  virtual bool isCaptureAwaited(uint32_t /*rank*/, uint32_t /*index*/) { return false; }
  /// The rank's runs in graphs that came to no result, since it was opened.
  virtual uint64_t endedInGraphs(uint32_t /*rank*/) { return 0; }
  /// Runs that are kernels in their streams, and are launched together: those of one stream are under way at once.
  class Launches {
   public:
    virtual ~Launches() = default;
    struct Run {
      const void* send;
      void* recv;
      void* stream;
      bool isForItsStream;  // see PlaceInStream
    };
    struct Told {
      RunCallback callback;
      void* argument;
    };
    /// @param index of a collective that was registered with signature.graph. @param place gets what waitForLaunched()
    /// takes, when it is launched; may be null. @throws Error, and it isn't added; else `told` will be called.
    virtual void add(uint32_t rank, uint32_t index, const Run& run, const Told& told, PlaceInStream* place) = 0;
    /// All that was added. May wait for the driver: under no lock that others need. Where it can't be launched the rank
    /// is lost, and its runs end as aborted. @throws Error dfcclUnavailable, with nothing launched: more ranks of a
    /// collective share a stream than a kernel takes.
    virtual void launch() = 0;
  };
  /// @throws Error dfcclUnavailable where there are no streams
  virtual std::unique_ptr<Launches> beginLaunches();
  /// Which stream it is, of all that there ever were. @throws Error as enterStream()
  virtual uint64_t idOfStream(uint32_t rank, void* stream);
  /// Lets another stream than its own go on only when such a run is over. @throws Error dfcclInvalidArgument,
  /// dfcclSystemError
  virtual void waitForLaunched(uint32_t rank, uint32_t index, const PlaceInStream& place, void* stream);
  /// Of a receiver's memory, how much messages may take that a rank has registered and that aren't under way.
  virtual uint64_t mostMessageBytes(uint32_t /*rank*/, uint32_t /*receiver*/) const { return UINT64_MAX; }
  /// The windows of a run's buffers, which other processes are told of where they don't know them yet. Doesn't wait.
  /// @pre shape.namesWindows, and checkMemory() has passed. @throws Error dfcclInvalidArgument where the memory is none
  /// that another process can map, dfcclQueueFull.
  virtual RunWindows windowsOf(uint32_t /*rank*/, const RunShape&, const void* /*send*/, const void* /*recv*/) {
    return {};
  }

  /// Zeroed memory that this rank's runs may use. @throws Error dfcclOutOfMemory
  virtual void* allocate(uint32_t rank, size_t bytes) = 0;
  /// @param bytes as allocated. @throws Error dfcclInvalidArgument where the memory is known not to be of allocate().
  virtual void free(uint32_t rank, void* memory, size_t bytes) = 0;
  /// Between the host's memory and a rank's, for callers without CUDA of their own. Both return when it is done; any
  /// thread. @throws Error
  virtual void copyIn(uint32_t rank, void* to, const void* from, size_t bytes);
  virtual void copyOut(uint32_t rank, void* to, const void* from, size_t bytes);

  /// Callers who wait take part in the work: they drive. Where daemons need nobody, both do nothing and return false.
  virtual bool drive(bool stepsIdle = true) = 0;
  virtual bool driveRank(uint32_t rank) = 0;
  /// How many local ranks have registered something at some time, and their numbers; the others have nothing to drive
  /// for.
  virtual uint32_t activeRanks() const = 0;
  virtual uint32_t activeRankAt(uint32_t position) const { return position; }
  /// After a submission: wakes the threads that step or start daemons, if they sleep. A thread that goes to sleep says
  /// so and then looks at the queues; a submitter stores its entry and then looks here: with both in one order over all
  /// threads, one sees the other.
  void ring() {
    if (sleepers_->load(order::seqCst) != 0) wake();
  }
  /// How many of them sleep: whoever submits without a call rings only then.
  Atomic<uint32_t>& sleepers() { return *sleepers_; }
  /// Stops all threads, for good. Nothing is written to anybody's buffers afterwards.
  virtual void stop() = 0;
  /// @throws Error dfcclSystemError if the rank's daemon is lost: nothing of it will complete any more.
  virtual void checkHealth(uint32_t /*rank*/) {}
  virtual bool isLost(uint32_t /*rank*/) { return false; }
  /// What a rank's daemon and the streams that wait for it do, in words; calls nothing that may block.
  virtual std::string describe(uint32_t /*rank*/) { return {}; }

  /// Ranks of other processes that are gone.
  virtual std::vector<LostRank> lostRanks() { return {}; }
  /// These, and who is gone as others say for whom a rank's collective was given up: this process may notice later.
  virtual std::vector<LostRank> lostFor(uint32_t /*rank*/, uint32_t /*index*/) { return lostRanks(); }
  /// Comes to the next agreement of all ranks that live on who they are, or looks at it again.
  /// @return the same ranks in every process; nothing while one that lives hasn't come.
  /// @throws Error dfcclAborted where the others have given this rank up, or where those on the machines that it
  /// reaches are too few to decide.
  virtual std::optional<std::vector<uint32_t>> agreeOnSurvivors();
  /// The ranks that live and haven't come to it.
  virtual std::vector<uint32_t> awaitedByAgreement() { return {}; }

  /// Lets the daemon of a rank leave until reopen(). @pre nothing of it is in flight.
  virtual void leave(uint32_t rank) = 0;
  virtual void reopen(uint32_t rank) = 0;

  /// Number of the stay that a device synchronization beginning now has to wait for; 0: no daemon is there.
  virtual uint64_t residentStay(uint32_t rank);
  virtual bool isStayOver(uint32_t rank, uint64_t stay);
  /// Device synchronization: blocks until the daemon that is resident now has left. On GPUs, and all other work of the
  /// device. @param timeoutMicros 0: none. @return false: timed out, or deadlocked in order.
  virtual bool synchronize(uint32_t rank, uint64_t timeoutMicros) = 0;
  virtual void noteSynchronizing(uint32_t /*rank*/, int /*delta*/) {}

  /// NCCL's behaviour, the control: collectives in the order of submission, none preempted.
  bool isInOrder() const { return options_.policy.streams != 0; }
  /// In-order worlds: looks for a deadlock; and what was found, or nothing.
  virtual void watch() {}
  virtual std::unique_ptr<DeadlockReport> deadlock() { return nullptr; }

  /// Called from a thread of the backend, outside every lock, when a completion was posted for a rank that sleeps.
  virtual void setWaker(std::function<void(uint32_t rank)> waker) = 0;
  /// Callbacks of this rank's runs come from threads of the backend too.
  virtual void deliverInBackground(uint32_t rank) = 0;
  /// Threads of the backend call it again and again, outside every lock, more seldom while it says that there is
  /// nothing to look for. Once, before any rank is opened; a backend whose ranks are on GPUs has no such threads.
  virtual void lookInBackground(std::function<bool()> /*look*/) {}

  virtual CounterReading readCounters(uint32_t rank) = 0;
  /// The last moments of the rank's daemon; nothing where daemons write no trace. @throws Error
  virtual std::vector<TraceTrack> readTrace(uint32_t /*rank*/) { return {}; }
  virtual size_t arenaUsedBytes() const = 0;
  virtual size_t memoryBytesOf(uint32_t rank, uint32_t index) = 0;
  /// Of a rank's memory for registrations, what is left; UINT64_MAX: nobody has to look at that.
  virtual uint64_t freeMemoryBytes(uint32_t /*rank*/) const { return UINT64_MAX; }
  /// What it keeps to know of collectives whose ranks are on several machines, registered or not.
  virtual size_t remoteBytesOf(uint32_t /*rank*/) { return 0; }

 protected:
  explicit Backend(const WorldOptions& options) : options_(options) {}
  virtual void wake() = 0;

  WorldOptions options_;
  std::vector<RankQueues*> queues_;  // [rank], by whoever derives from this; null: another process's
  Atomic<uint32_t>* sleepers_ = nullptr;
};

}  // namespace dfccl
