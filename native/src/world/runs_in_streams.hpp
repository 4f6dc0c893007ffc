#pragma once
// A rank's runs that are kernels in streams, from their launch until whoever asked has been told: any number of them.
// They take none of the daemon's places.
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "base/atomics.hpp"
#include "dfccl/status.h"
#include "world/backlog.hpp"

namespace dfccl {

class RunsInStreams {
 public:
  struct Run {
    uint32_t index;  // of its collective
    RunCallback callback;
    void* argument;
    uint64_t number = 0;                         // of its collective's, from 1; 0: it was never launched
    std::shared_ptr<const void> room = nullptr;  // that it has until somebody has been told
  };
  /// What the kernels of a collective tell the host.
  struct Source {
    const Atomic<uint64_t>* over;        // number of the last run that is over
    const Atomic<uint64_t>* firstEnded;  // of the first that came to no result; 0: none has
    std::list<Run> runs{};               // that are launched, in their order; the lock's
  };
  /// A run that is about to be launched, with all the memory that this needs.
  class Prepared {
   public:
    /// @param hold keeps what `source` names, until nobody is to be told of runs of it.
    Prepared(std::shared_ptr<Source> source, std::shared_ptr<const void> hold, const Run& run)
        : its_(source), source_{{std::move(source), std::move(hold)}}, run_{run} {}

   private:
    friend class RunsInStreams;
    struct Active {
      std::shared_ptr<Source> source;
      std::shared_ptr<const void> hold;
    };
    std::shared_ptr<Source> its_;
    std::list<Active> source_;
    std::list<Run> run_;
  };

  /// It is launched, or about to be. @param number the one behind that of the collective's last.
  /// @param room goes when all runs that have it are over
  void launched(Prepared& run, uint64_t number, std::shared_ptr<const void> room = nullptr) noexcept;
  /// It is not, and ends as aborted, also where launched() has said otherwise. @pre nor is any that came behind it
  void ended(Prepared& run) noexcept;

  /// Runs that nobody has been told of.
  bool hasAny() const { return count_.load(order::seqCst) != 0; }
  /// Whether a kernel has yet to end.
  bool isAnyUnderWay();
  /// Of a collective's, those that are over, and of which nobody has been told.
  uint64_t overOf(uint32_t index);
  /// act(const Run&, status), at most `most` times, for runs that are over. One thread at a time. @return how often
  template <class Act>
  uint32_t take(uint32_t most, const Act& act) {
    if (!hasAny()) return 0;
    std::list<Run> taken;
    uint32_t count = 0;
    for (; count < most; ++count) {
      dfcclResult_t status = dfcclSuccess;
      if (!takeOne(taken, status)) break;
      act(taken.front(), status);
    }
    return count;
  }

 private:
  static bool isOver(const Source& source, const Run& run) { return run.number <= source.over->load(order::acquire); }
  bool takeOne(std::list<Run>& taken, dfcclResult_t& status);

  std::mutex mutex_;
  std::list<Prepared::Active> active_;  // that have runs
  std::list<Run> ended_;
  Atomic<uint64_t> count_;
};

}  // namespace dfccl
