#pragma once
// Whether kernels that have to end have ended, of which the host sees how often one has begun and how often one was
// over. A kernel tells that it has begun a little after it has looked whether it must end, and one that carries out
// several runs seems to be over between them: so nothing may change for a while, which begins when the device has been
// told that kernels must end.
#include <cstdint>
#include <optional>

namespace dfccl::gpu {

class QuietLook {
 public:
  /// @param settleTicks how long nothing may change, by the same clock as the looks'.
  explicit QuietLook(uint64_t settleTicks) : settleTicks_(settleTicks) {}

  /// @param isEndStored whether what comes finds on the device that it must end. @param over read behind that, and
  /// before `begun`: where they are equal then, nothing was under way when `over` was read.
  /// @return whether all have ended, for good.
  bool look(bool isEndStored, uint64_t over, uint64_t begun, uint64_t now) {
    if (!isEndStored || begun != over) {
      since_.reset();
      return false;
    }
    if (!since_ || begun != begun_) {
      since_ = now;
      begun_ = begun;
    }
    return now - *since_ > settleTicks_;
  }

 private:
  const uint64_t settleTicks_;
  std::optional<uint64_t> since_;
  uint64_t begun_ = 0;  // at since_
};

}  // namespace dfccl::gpu
