#pragma once
// The ranks of a world that this process has open, as receivers from anybody: whoever waits for one of them lets all of
// them receive. For a thread may drive several, and what it waits for on one be up to another's receive.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/atomics.hpp"
#include "matching/matching.hpp"

namespace dfccl::c_api {

class Receivers {
 public:
  void enter(Matching& rank);
  /// Waits for those who look for its senders.
  void leave(Matching& rank);
  /// A rank receives from anybody, maybe for the first time: so long nobody pays for it.
  void expect() { isAnyExpected_.store(1, order::relaxed); }
  /// As Matching::lookForSenders(), for each rank, unless another thread begins to at this moment.
  bool lookForSenders();
  /// The same, on a thread that nobody could be told on. @return whether there is still something to look for.
  bool lookInBackground();

 private:
  struct Receiver {
    Matching* rank;
    uint32_t looking;  // threads
  };
  bool areLooking();
  Matching* takeNext(size_t& at);
  void giveBack(const Matching& rank);

  Atomic<uint32_t> isAnyExpected_;
  std::mutex mutex_;
  std::vector<Receiver> all_;
};

}  // namespace dfccl::c_api
