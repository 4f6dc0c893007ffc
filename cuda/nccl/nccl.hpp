#pragma once
// A process's ranks in NCCL: a communicator and a stream each.
#include <cstdint>
#include <functional>
#include <vector>

#include "nccl/nccl_library.hpp"

namespace dfccl::gpu {

class Nccl {
 public:
  /// Where the communicator's ranks are in several processes.
  struct Among {
    uint32_t ranks, first;                                        // of all; of this process's
    std::function<NcclUniqueId(const NcclUniqueId& own)> agreed;  // the id of the process that has rank 0
  };

  /// @param library see NcclLibrary. @param devices of the ranks. @throws Error
  Nccl(const std::string& library, const std::vector<int>& devices);
  /// @param devices of this process's ranks. @throws Error
  Nccl(const std::string& library, const std::vector<int>& devices, const Among& among);

  const NcclLibrary& library() const { return library_; }
  /// @param rank among this process's, here and below
  NcclCommunicator communicator(uint32_t rank) const { return communicators_[rank]; }
  cudaStream_t stream(uint32_t rank) const { return streams_[rank]; }
  /// float32, sum; enqueued on the rank's stream, or on the one given.
  void allReduce(uint32_t rank, const void* send, void* recv, size_t count, cudaStream_t stream = nullptr);
  /// float32, on the rank's stream, here and below. @param count of each rank
  void allGather(uint32_t rank, const void* send, void* recv, size_t count);
  void send(uint32_t rank, const void* buffer, size_t count, uint32_t to);
  void receive(uint32_t rank, void* buffer, size_t count, uint32_t from);
  void groupStart() { library_.check(library_.groupStart(), "ncclGroupStart"); }
  void groupEnd() { library_.check(library_.groupEnd(), "ncclGroupEnd"); }

 private:
  NcclLibrary library_;
  std::vector<NcclCommunicator> communicators_;
  std::vector<cudaStream_t> streams_;
};

}  // namespace dfccl::gpu
