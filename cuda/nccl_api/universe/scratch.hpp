#pragma once
// Device memory for scaled copies of what is sent. It is kept, because to free it CUDA may wait until all that is on
// the device is over.
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "dfccl/dfccl.h"

namespace dfccl::nccl {

class Scratch {
 public:
  /// Memory that is given back when nobody holds it any more. @param rank of the universe; `context` is its.
  /// @throws Failure
  std::shared_ptr<void> take(int rank, dfcclRankCtx_t context, size_t bytes);
  /// Frees all of it. @pre nobody holds any. @param contexts of all ranks
  void clear(const std::vector<dfcclRankCtx_t>& contexts);

 private:
  struct Piece {
    int rank;
    size_t bytes;
    void* memory;
    bool isTaken;
  };
  void giveBack(const void* memory);

  std::mutex mutex_;
  std::vector<Piece> pieces_;
};

}  // namespace dfccl::nccl
