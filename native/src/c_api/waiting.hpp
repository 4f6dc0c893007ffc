#pragma once
// A thread that waits works meanwhile; when there is nothing to do it spins, then yields, then sleeps.
#include <cstdint>
#include <span>
#include <vector>

#include "c_api/idle_looks.hpp"
#include "c_api/rank_context.hpp"

namespace dfccl::c_api {

/// Waits on behalf of some ranks of one world. They are its own: it steps them, and all those that nobody waits for.
class Waiting {
 public:
  /// @param timeoutMicros 0: none.
  Waiting(std::span<RankContext* const> mine, uint64_t timeoutMicros);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// Which registration of a signature of the first rank's an error tells of first; 0: none.
  void tellFirst(uint64_t registration) { first_ = registration; }
  /// Steps once. @param stepsIdle also ranks without work, as their stays' end is waited for. @return whether anything
  /// moved.
  bool help(bool stepsIdle = true);
  /// After a look in vain. @throws Error dfcclTimeout, dfcclDeadlock
  void pause();
  /// After a look that found something. @throws Error dfcclTimeout
  void noteProgress();

 private:
  void enlist();
  void rest();
  void checkLimit();

  std::span<RankContext* const> mine_;
  OpenWorld& world_;
  uint64_t first_ = 0;
  uint64_t begin_ = 0;
  uint64_t limitTicks_ = 0;
  IdleLooks idle_;
  uint32_t progress_ = 0;
  bool isEnlisted_ = false;  // others know that somebody waits for these ranks
};

/// @throws Error dfcclInUse: this thread is in a callback of the rank's.
void refuseInCallback(const RankContext& context);

/// Steps until all that these ranks have queued has completed and its callbacks have returned.
/// @pre All of one world. @throws Error dfcclTimeout, dfcclDeadlock, dfcclInUse (from a callback of theirs).
void waitForRuns(std::span<RankContext* const> mine, uint64_t timeoutMicros);

/// Steps until all ranks that live have come to the next agreement. @return the ranks that go on.
/// @throws Error dfcclTimeout naming those that didn't come; as Backend::agreeOnSurvivors().
std::vector<uint32_t> agreeOnSurvivors(RankContext& context, uint64_t timeoutMicros);

/// Steps until the daemon that is resident now has left. @throws Error dfcclDeadlock
void synchronize(RankContext& context);

}  // namespace dfccl::c_api
