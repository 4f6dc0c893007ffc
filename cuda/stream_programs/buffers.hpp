#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "stream_programs/program.hpp"

namespace dfccl::gpu::programs {

/// Memory for a rank's runs, of every place that a program may have it in.
class Buffers {
 public:
  ~Buffers();

  /// @param stream where memory of a pool is used first
  void* take(size_t bytes, BufferKind place, cudaStream_t stream);
  /// Nobody uses what was taken any more. What is kept serves again, other memory is freed.
  void giveAllBack(cudaStream_t stream);
  /// Memory that no run uses, and that is freed at some other time, which waits for the device.
  void addDecoy(size_t bytes);
  void freeDecoy();
  void addHostDecoy(size_t bytes);
  void freeHostDecoy();

 private:
  struct Piece {
    void* memory;
    size_t bytes;
    BufferKind place;
  };
  std::vector<Piece> taken_;
  std::map<std::pair<BufferKind, size_t>, std::vector<void*>> kept_;  // of these sizes
  std::vector<void*> decoys_, hostDecoys_;
};

}  // namespace dfccl::gpu::programs
