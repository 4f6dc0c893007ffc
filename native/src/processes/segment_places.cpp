#include "processes/segment_places.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace dfccl {
namespace {

// Far from everything: V8 spreads its heap below 0x4000'0000'0000, programs lie from 0x5555'5555'0000 on, libraries and
// stacks below 0x8000'0000'0000. ThreadSanitizer has shadow memory there, and leaves the top to programs.
#if defined(__SANITIZE_THREAD__)
constexpr uintptr_t kBegin = 0x7eb0'0000'0000;
constexpr uint64_t kSpan = uint64_t{1} << 40;  // what lies beyond an address space it maps at 0
#else
constexpr uintptr_t kBegin = 0x4800'0000'0000;
constexpr uint64_t kSpan = uint64_t{7} << 40;
#endif
constexpr uint64_t kLeastStep = uint64_t{1} << 34;
constexpr uint64_t kMostLookedAt = 64;

uint64_t hashOf(const std::string& job) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : job) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash ^ hash >> 32;
}

/// @return errno, EEXIST where something else is there; 0: it is free.
int askFor(uintptr_t begin, size_t bytes) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* const wanted = reinterpret_cast<void*>(begin);
  void* const mapped = mmap(wanted, bytes, PROT_NONE, kFlags, -1, 0);
  if (mapped == MAP_FAILED) return errno;
  munmap(mapped, bytes);
  // A kernel older than the flag takes the address for a hint.
  return mapped == wanted ? 0 : EEXIST;
}

}  // namespace

SegmentPlaces::SegmentPlaces(const std::string& job, size_t bytes)
    : bytes_(bytes),
      step_(std::max<uint64_t>(kLeastStep, std::bit_ceil(bytes))),
      count_(std::max<uint64_t>(1, kSpan / step_)),
      first_(hashOf(job) % count_) {}

uint64_t SegmentPlaces::freeHere() const {
  uint64_t free = 0;
  for (uint64_t i = 0; i < std::min(count_, kMostLookedAt); ++i) {
    if (askFor(addressOf(static_cast<uint32_t>(i)), bytes_) == 0) free |= uint64_t{1} << i;
  }
  return free;
}

std::string SegmentPlaces::whyNone() const {
  const int error = askFor(addressOf(0), bytes_);
  return error == 0 ? std::string() : std::strerror(error);
}

uintptr_t SegmentPlaces::addressOf(uint32_t place) const { return kBegin + (first_ + place) % count_ * step_; }

}  // namespace dfccl
