#pragma once
// Where ranks on other machines come to the meetings of ids that this process has made: it takes them a seat in the
// meeting of its own machine, and tells them who has come when all have. A thread that listens, from the first such id
// on; there is none unless another NCCL is named (DFCCL_REAL_NCCL), whose such communicators are.
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "nccl_api/machines/visitor.hpp"

namespace dfccl::nccl {

class Reception {
 public:
  /// This process's. @throws Failure ncclSystemError: it can't listen.
  static Reception& here();

  /// An id whose ranks may come from elsewhere. @throws Failure
  ncclUniqueId makeId();

 private:
  Reception();
  void serve();
  void letIn(std::vector<Visitor>& visitors);
  bool hasMade(const Name& name);

  KeptFromChildren listener_;
  const uint32_t seconds_ = joinSeconds();  // the environment is not to be read by another thread than the program's
  Reach reach_{};
  std::mutex mutex_;
  std::set<std::tuple<uint64_t, uint64_t>> made_;  // names
};

}  // namespace dfccl::nccl
