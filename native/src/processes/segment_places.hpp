#pragma once
// Where in its processes' address spaces a world's memory may lie: at the same address in all of them, so it takes a
// place that none has something at. Each world looks at some of the places, which its job's name tells, so that two
// that a process joins at a time seldom want the same.
#include <cstddef>
#include <cstdint>
#include <string>

namespace dfccl {

class SegmentPlaces {
 public:
  /// @param job of the world. @param bytes that it takes.
  SegmentPlaces(const std::string& job, size_t bytes);

  /// Those that are free in this process now, a bit each; at most 64 are looked at.
  uint64_t freeHere() const;
  uintptr_t addressOf(uint32_t place) const;
  /// Of this process, where nothing is free: what the system says to the first place; "" where it is free by now.
  std::string whyNone() const;

 private:
  const size_t bytes_;
  uintptr_t step_;
  uint64_t count_;  // of all there are
  uint64_t first_;
};

}  // namespace dfccl
