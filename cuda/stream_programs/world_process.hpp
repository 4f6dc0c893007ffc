#pragma once
#include <cstdint>
#include <string>

#include "stream_programs/generate.hpp"
#include "stream_programs/options.hpp"
#include "stream_programs/shared_page.hpp"

namespace dfccl::gpu::programs {

/// A world that runs some programs, one after the other.
struct WorldPlan {
  uint64_t firstSeed, programs;
  uint32_t ranks, processes;
  bool isSpread;      // ranks of one process on devices of their own, where there are more
  uint32_t machines;  // that its processes are spread over
  uint16_t port;      // of this host's, where those of several machines meet
  Shape shape;
  std::string job;  // of its processes
};

inline constexpr int kGood = 0, kWrong = 1, kError = 2, kHang = 3;

/// In a process of its own, which has not used CUDA yet. @return kGood, kWrong or kError
int runProcess(const WorldPlan& plan, const Options& options, uint32_t process, SharedPage& page);

}  // namespace dfccl::gpu::programs
