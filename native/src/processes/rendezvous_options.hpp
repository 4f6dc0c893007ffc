#pragma once
// What every meeting of a job's processes has, on one machine (rendezvous.hpp) or between several
// (network/host_rendezvous.hpp): a limit of time, a way to give up, and words for what goes wrong.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "dfccl/status.h"
#include "processes/segment.hpp"

namespace dfccl {

struct RendezvousOptions {
  std::string job;    // the same in all processes of the job, and in no other's
  std::string place;  // of a job that is in several places: which of them
  uint32_t rank = 0;
  uint32_t timeoutMillis = 60'000;
  SegmentShape shape{};
  std::vector<uint32_t> members;                  // who meets on this machine, ascending; empty: all ranks
  const Atomic<uint32_t>* isCancelled = nullptr;  // once it isn't 0, the meeting ends soon

  std::vector<uint32_t> everybody() const;
};

namespace rendezvous {

using Clock = std::chrono::steady_clock;

inline constexpr int kRetryMillis = 5;
inline constexpr int kLookMillis = 100;                      // how often a wait looks whether it was cancelled
inline constexpr auto kHelloTime = std::chrono::seconds(5);  // who hasn't said by then who it is, is closed
inline constexpr size_t kStrangers = 16;                     // connections beyond the ranks' at a time

inline Clock::time_point deadlineOf(const RendezvousOptions& options) {
  return Clock::now() + std::chrono::milliseconds(options.timeoutMillis);
}
int millisUntil(Clock::time_point deadline);
/// "1.5 s"
std::string secondsOf(const RendezvousOptions& options);
/// @throws Error dfcclAborted
void checkCancelled(const RendezvousOptions& options);
[[noreturn]] void refuseSystem(const std::string& what);
/// @throws Error with the remedy that goes with the status, and `ranks` among its facts: who is missing, or claimed
/// twice.
[[noreturn]] void throwRefused(dfcclResult_t status, const std::string& text, const std::vector<uint32_t>& ranks = {});
/// The first thing in which another rank's world differs from the leader's; "" if nothing does.
std::string difference(const SegmentShape& own, uint32_t leader, const SegmentShape& other, uint32_t rank);
/// That these ranks didn't come in time.
std::string missing(const RendezvousOptions& options, const std::vector<uint32_t>& ranks);

}  // namespace rendezvous
}  // namespace dfccl
