#pragma once
// A lane of a collective's captured runs: a block's part of each of them. Whose turn it is, and who does it.
#include <cstdint>

#include "base/atomics.hpp"

namespace dfccl::gpu {

/// A lane's word: how many blocks have come to it, how many runs it is done of, and the State of the next. The n-th
/// block that comes has run n, whichever launch it is of, so launches that are under way at once each have their own.
/// To come is to take: the first block of a run does a lane in place of its owner only where that hasn't come, or has
/// left. Numbers go on at 0 behind 2^31 - 1, which parities and flags that are made of them don't notice.
class CapturedTurn {
 public:
  static constexpr uint32_t kNumbers = uint32_t{1} << 31;
  enum State : uint64_t { isFree = 0, isTaken = 1, isLeft = 2 };

  DFCCL_HD explicit CapturedTurn(uint64_t word) : word_(word) {}

  DFCCL_HD uint32_t arrivals() const { return static_cast<uint32_t>(word_ >> kArrivals); }
  DFCCL_HD uint32_t done() const { return static_cast<uint32_t>(word_ >> kDone) & kMost; }
  DFCCL_HD State state() const { return static_cast<State>(word_ & 3); }

  DFCCL_HD bool isDone(uint32_t run) const { return ((done() - run - 1) & kMost) <= kMost / 2; }
  DFCCL_HD bool isTurnOf(uint32_t run) const { return done() == run; }
  /// Whether the run's own block has come to it, where runs come one behind the other.
  DFCCL_HD bool hasCome(uint32_t run) const { return ((arrivals() - run - 1) & kMost) <= kMost / 2; }
  /// Whether the first block of the run may do it. @pre isTurnOf(run). @param isHandedOver see CapturedHandover
  DFCCL_HD bool isAbandoned(uint32_t run, bool isHandedOver = false) const {
    return state() == isLeft || (state() == isFree && (isHandedOver || arrivals() == run));
  }

  /// What is added to the word by a block that comes, for each run of its kernel's, and by who leaves it to the first
  /// block.
  static constexpr uint64_t kArrival = uint64_t{1} << 33;
  /// @param state the lane's until then: isFree where its owner leaves it
  DFCCL_HD static constexpr uint64_t leaving(State state) { return isLeft - state; }
  /// And by whoever is done with a run. @param state the lane's meanwhile: isFree where its owner has done it
  DFCCL_HD static constexpr uint64_t ending(uint32_t run, State state) {
    // Arrivals stand above, and get no carry.
    return (run == kMost ? -(uint64_t{kMost} << kDone) : uint64_t{1} << kDone) - state;
  }
  /// What the word becomes when the first block takes what nobody has come to.
  DFCCL_HD uint64_t taken() const { return word_ | isTaken; }

 private:
  static constexpr uint32_t kMost = kNumbers - 1;
  static constexpr int kDone = 2, kArrivals = 33;

  uint64_t word_;
};

/// A member's runs in one kernel, which each block carries out one after the other. It has come to all of them with the
/// first one, so the first block has to be told which of them it won't do: what follows on a run that it has left.
class CapturedHandover {
 public:
  DFCCL_HD explicit CapturedHandover(uint64_t word) : word_(word) {}

  /// @param first of the runs, by its number in streams. @param runs at most 31
  DFCCL_HD static constexpr uint64_t wordOf(uint64_t first, uint32_t runs) { return first << kRuns | runs; }
  DFCCL_HD bool has(uint64_t run) const { return run - (word_ >> kRuns) < word_ % (1u << kRuns); }

 private:
  static constexpr int kRuns = 5;

  uint64_t word_;
};

}  // namespace dfccl::gpu
