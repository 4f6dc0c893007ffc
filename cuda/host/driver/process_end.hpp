#pragma once
// A process may end with worlds open. CUDA's runtime then takes itself down while the library's own threads still run,
// and a call of theirs into it is a crash. So before that comes, they stop calling CUDA.
#include <cstdint>

namespace dfccl::gpu {

class ProcessEnd {
 public:
  /// Lets exit() tell the threads. @pre CUDA's runtime is there already, so that its own end comes after this.
  static void watch();
  static bool isNear();

  /// A thread of the library's own is about to call CUDA; exit() waits until it is gone, a second at most.
  class Call {
   public:
    Call();
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    /// @return false: the process ends, and nothing of CUDA's may be called.
    bool isAllowed() const { return isAllowed_; }

   private:
    bool isAllowed_;
  };
};

}  // namespace dfccl::gpu
