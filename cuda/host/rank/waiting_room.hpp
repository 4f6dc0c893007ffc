#pragma once
// Room on a device for runs that are kernels in streams (decision 47). Each run holds a multiprocessor while it waits
// for its peers, and where such runs fill a device, those that the peers wait for can't begin. So how many of them a
// kernel has at once is bounded. One always has room, as there are no more kernels under way than hardware queues; its
// others have it while some is left beside those.
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

namespace dfccl::gpu {

class WaitingRoom {
 public:
  /// What a kernel's runs have of it, until all of them are over.
  struct Part {
    uint64_t stream;
    uint32_t runs;
  };

  /// @param stream which, of all that there ever were: its kernels are under way one after the other.
  /// @param wanted runs of a kernel. @param beside how many runs there is room for beside one of each kernel.
  /// @return room for as many as there is; nullptr: for one, maybe for want of memory.
  std::shared_ptr<const Part> take(uint64_t stream, uint32_t wanted, uint32_t beside) noexcept;

 private:
  uint32_t takenByOthers(uint64_t stream);

  std::mutex mutex_;
  std::list<std::weak_ptr<const Part>> taken_;
};

}  // namespace dfccl::gpu
