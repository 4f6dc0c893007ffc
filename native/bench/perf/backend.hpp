#pragma once
// What the timed loop knows of the library that it measures.
#include <cstdint>
#include <stdexcept>
#include <string>

#include "perf/average.hpp"
#include "perf/memory.hpp"
#include "perf/shape.hpp"

namespace dfccl::bench {

/// Exit codes as nccl-tests has them.
enum class Exit : int { internal = 1, cuda = 2, nccl = 3, timeout = 4, notImplemented = 5, invalidUsage = 6 };

struct PerfError : std::runtime_error {
  PerfError(Exit code, const std::string& what) : std::runtime_error(what), exit(code) {}
  Exit exit;
};

/// What a preemptive engine counts; sums over this process's ranks. All 0 for others.
struct PerfCounters {
  uint64_t preemptions = 0;
  uint64_t quits = 0;
  uint64_t visits = 0;
  uint64_t stuckVisits = 0;
  uint64_t queueLengthSum = 0;
  uint64_t queueLengthMaximum = 0;
  uint64_t memoryBytes = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* name() const = 0;
  virtual std::string version() const = 0;
  virtual uint32_t ranks() const = 0;
  /// This process holds ranks firstRank() … firstRank() + localRanks() - 1.
  virtual uint32_t firstRank() const { return 0; }
  virtual uint32_t localRanks() const { return ranks(); }

  /// Why this case can't run; empty if it can. The same on every rank.
  virtual std::string refusal(const Case&, bool inPlace) const {
    (void)inPlace;
    return {};
  }
  virtual Memory& memory() { return hostMemory(); }
  /// Called once by each thread that drives ranks, first of all.
  virtual void attachThread(uint32_t firstRank) { (void)firstRank; }
  /// Makes `concurrent` collectives of this shape ready, on all local ranks; called by one thread.
  virtual void prepare(const Case& shape, bool inPlace, uint32_t concurrent) = 0;
  /// Frees them; nothing is in flight.
  virtual void release() = 0;
  /// Begins one of them on a rank. May return before it is done, or afterwards.
  virtual void enqueue(uint32_t rank, uint32_t which, const void* send, void* recv) = 0;
  /// What a thread begins between these two, so many operations, may wait for each other: NCCL has to be told so.
  virtual void openGroup(uint32_t operations) { (void)operations; }
  virtual void closeGroup(uint32_t operations) { (void)operations; }
  /// Waits until everything that these ranks have begun is done; called by the thread that drives them.
  virtual void complete(uint32_t firstRank, uint32_t count) = 0;
  /// Whether what the root of a broadcast receives is written out of place too.
  virtual bool copiesOwnPart() const { return true; }
  /// Whether its results are those of exact arithmetic, to the bit.
  virtual bool isExact(const Case&) const { return true; }

  virtual PerfCounters counters() { return {}; }

  // ---- Between processes; a single one needs none of it --------------------------------------------------------
  virtual void barrier() {}
  virtual double combine(double mine, Average) { return mine; }
  virtual uint64_t sum(uint64_t mine) { return mine; }
  /// What the process of rank 0 has.
  virtual uint64_t ofFirst(uint64_t mine) { return mine; }
};

}  // namespace dfccl::bench
