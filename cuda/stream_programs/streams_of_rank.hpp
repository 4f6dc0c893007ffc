#pragma once
#include <cuda_runtime_api.h>

#include <map>
#include <utility>
#include <vector>

#include "stream_programs/program.hpp"

namespace dfccl::gpu::programs {

/// A rank's streams: those of one program serve the next one again, where it wants such ones.
class StreamsOfRank {
 public:
  StreamsOfRank();

  void begin(const std::vector<StreamPlan>& plans);
  cudaStream_t operator[](int number) const { return streams_[static_cast<size_t>(number)]; }
  /// Destroys a stream with what it has to do, and makes another one like it. Default streams are what they are.
  void renew(int number);
  /// Those that were destroyed, too.
  void synchronizeAll() const;

 private:
  cudaStream_t make(const StreamPlan& plan) const;

  int greatest_ = 0, least_ = 0;            // priorities
  cudaStream_t behindDestroyed_ = nullptr;  // what they had to do is done before what this one does
  std::vector<StreamPlan> plans_;
  std::vector<cudaStream_t> streams_;
  std::map<std::pair<StreamKind, uint32_t>, std::vector<cudaStream_t>> idle_;
};

}  // namespace dfccl::gpu::programs
