#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace dfccl_torch {

using Clock = std::chrono::steady_clock;

/// So far ahead of now, or ten years, as what is later may not fit a time.
Clock::time_point timeIn(std::chrono::milliseconds fromNow);
/// When a wait of so long is over that begins now; 0: never.
std::optional<Clock::time_point> endOf(std::chrono::milliseconds limit);

/// A moment at which something is to be done, unless it is dropped before: on a thread that all have in common, so what
/// is done must neither wait nor take Python's lock.
class Deadline {
 public:
  Deadline(std::chrono::milliseconds fromNow, std::function<void()> act);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  const Clock::time_point time_;
  uint64_t number_;
};

}  // namespace dfccl_torch
