#pragma once
#include <chrono>
#include <cstdint>
#include <functional>

namespace dfccl_torch {

/// A moment at which something is to be done, unless it is dropped before: on a thread that all have in common, so what
/// is done must neither wait nor take Python's lock.
class Deadline {
 public:
  Deadline(std::chrono::milliseconds fromNow, std::function<void()> act);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  const std::chrono::steady_clock::time_point time_;
  uint64_t number_;
};

}  // namespace dfccl_torch
