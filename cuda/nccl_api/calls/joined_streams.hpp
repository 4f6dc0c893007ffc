#pragma once
#include <map>
#include <set>
#include <vector>

#include "nccl_api/calls/operation.hpp"

namespace dfccl::nccl {

/// The streams of a group's operations: as in NCCL, nothing of it begins before all of a device's have come to it, and
/// none goes on before all of it is over.
class JoinedStreams {
 public:
  /// @pre there are some
  explicit JoinedStreams(const std::vector<Operation>& operations);
  /// Lets each wait for what all have been given by now. @throws Failure
  void join() const;

 private:
  std::map<int, std::set<cudaStream_t>> ofDevice_;
};

}  // namespace dfccl::nccl
