#pragma once
// Room on a device for runs that are kernels in streams (decision 47). Each run holds a multiprocessor while it waits
// for its peers, and where such runs fill a device, those that the peers wait for can't begin. So how many of them a
// kernel has at once is bounded. One always has room, as there are no more kernels under way than hardware queues; its
// others have it while some is left beside those.
#include <cstdint>
#include <memory>

namespace dfccl::gpu {

class WaitingRoom {
  class Taken;

 public:
  WaitingRoom();

  /// What a kernel's runs have of it, until all of them are over: as long as this is there.
  class Part {
   public:
    Part(std::shared_ptr<Taken> taken, uint64_t stream, uint32_t runs);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    const uint32_t runs;

   private:
    const std::shared_ptr<Taken> taken_;
    const uint64_t stream_;
  };

  /// What a kernel wants: as many runs as there is room for.
  struct Wish {
    uint64_t stream;  // which, of all that there ever were: its kernels are under way one after the other
    uint32_t fewest, wanted;
  };
  /// @param beside how many runs there is room for beside one of each kernel.
  /// @return what it has, the fewest also where there is less room; nullptr: the fewest, for want of memory, or of one.
  std::shared_ptr<const Part> take(const Wish& wish, uint32_t beside) noexcept;

 private:
  const std::shared_ptr<Taken> taken_;
};

}  // namespace dfccl::gpu
