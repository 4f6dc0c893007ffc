#pragma once
// Memory that all ranks reach, for buffers that lie where they don't.
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "base/atomics.hpp"

namespace dfccl {

class Backend;

/// A piece of it. Null: none.
struct Staged {
  void* memory = nullptr;
  uint32_t sizeClass = 0;
};

/// Of one rank. Pieces are kept when they are given back, since the next run wants the same. Any thread.
class StagingPool {
 public:
  StagingPool(Backend& backend, uint32_t rank) : backend_(backend), rank_(rank) {}
  /// @throws Error dfcclOutOfMemory
  Staged take(uint64_t bytes);
  void giveBack(Staged& piece);
  /// Of a run that was given up: others may still touch it, until the registration's quarantine is over.
  void setAside(Staged& piece, uint64_t registration);
  bool hasAside() const { return asideCount_.load(order::relaxed) != 0; }
  /// Nobody touches what was set aside for a registration any more, nor what will be: it was given up.
  void endQuarantine(uint64_t registration);
  /// To whom it came from, all that nobody uses.
  void freeUnused();

 private:
  static constexpr uint32_t kClasses = 48;

  Backend& backend_;
  const uint32_t rank_;
  std::mutex mutex_;
  std::vector<void*> unused_[kClasses];    // [class]: of 2^class bytes
  std::multimap<uint64_t, Staged> aside_;  // by registration
  Atomic<uint64_t> asideCount_;
  std::unordered_set<uint64_t> ended_;  // registrations whose quarantine is over: seldom any
};

}  // namespace dfccl
