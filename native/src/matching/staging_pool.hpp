#pragma once
// Memory that all ranks reach, for buffers that lie where they don't.
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

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
  /// Of a run that was given up: others may still touch it, until the registration is forgotten.
  void setAside(Staged& piece, uint64_t registration);
  /// Nobody touches what was set aside for it any more.
  void forget(uint64_t registration);
  /// To whom it came from, all that nobody uses.
  void freeUnused();

 private:
  static constexpr uint32_t kClasses = 48;

  Backend& backend_;
  const uint32_t rank_;
  std::mutex mutex_;
  std::vector<void*> unused_[kClasses];  // [class]: of 2^class bytes
  std::multimap<uint64_t, Staged> aside_;
};

}  // namespace dfccl
