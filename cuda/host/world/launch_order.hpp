#pragma once
// Which runs of a batch go into which kernels, and in which order those are launched, where runs are kernels in their
// streams (decisions 47 and 51).
//
// The runs of each stream have an order that ranks have in common whose batches are alike, whatever streams they are
// in: by how many of the same collective come before, then by collective. A kernel has the next of its stream's, as
// many as there is room for. A run whose collective was in another stream before waits for that, and so begins a kernel
// of its own, lest what is before it waits too. So each kernel waits for nothing but runs that come before all of its
// own; of the ranks' runs that aren't over the first one is in a kernel that is under way on each of them, and ends.
#include <cstdint>
#include <span>
#include <vector>

#include "world/collective_id.hpp"

namespace dfccl::gpu {

class LaunchOrder {
 public:
  /// A run, as far as its place is concerned.
  struct Entry {
    const void* member;  // whose it is: those of a member are carried out one after the other
    CollectiveId collective;
    int device;
    uint64_t stream;

    uint32_t occurrence = 0;     // among its member's
    bool isBehindOther = false;  // its member's run before it is in another stream
  };

  /// @param runs in the order of the calls. @param mostRuns of a kernel, unless ranks that share a stream have more
  LaunchOrder(std::vector<Entry> runs, uint32_t mostRuns);

  /// Ranks that share a stream have their parts of a collective's run in one kernel: they wait for each other.
  /// @return how many such ranks a run has at most
  uint32_t mostSharers() const;

  struct Next {
    uint32_t run;     // the first one, by its place among the calls
    uint32_t fewest;  // members whose runs aren't parted from it
    uint32_t wanted;  // members of as many runs as one kernel takes
  };
  bool hasNext() const { return next_ != nullptr; }
  /// The kernel that is launched next. @pre hasNext()
  Next next() const noexcept;
  /// @param mostMembers that it has room for. @return its runs, by their places among the calls: a member's one after
  /// the other, and those of a collective together
  std::span<const uint32_t> take(uint32_t mostMembers) noexcept;

 private:
  /// What is left of a stream's runs, in order_.
  struct Stream {
    uint32_t begin, end;
  };

  const Entry& at(uint32_t place) const { return runs_[order_[place]]; }
  void count();
  bool areOfDistinctMembers() const;
  bool isSameStep(uint32_t one, uint32_t other) const;
  uint32_t endOfStep(uint32_t begin, uint32_t end) const;
  uint32_t endOfKernel(const Stream& stream, uint32_t mostMembers) const;
  uint32_t membersOf(uint32_t begin, uint32_t end) const;
  void findNext() noexcept;

  std::vector<Entry> runs_;
  const uint32_t mostRuns_;
  std::vector<uint32_t> order_;
  std::vector<Stream> streams_;
  Stream* next_ = nullptr;
};

}  // namespace dfccl::gpu
