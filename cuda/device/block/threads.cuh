#pragma once
// Who is who among the threads of a block:
//
//   thread   0 ........ 447   448       449-479       480 ........ 511
//            workers          control   leave at      poll the host's queue
//            (move data)      thread    once          (the leader's block only)
//
// The control thread alone runs the daemon. The workers park at a hardware barrier, which costs the others nothing,
// until it has something to move.
#include <cstdint>

namespace dfccl::gpu {

inline constexpr uint32_t kWorkers = 448;  // 14 warps: with the two others 16, which leaves each thread 128 registers
inline constexpr uint32_t kControlThread = kWorkers;
inline constexpr uint32_t kFirstPoller = kWorkers + 32;
inline constexpr uint32_t kBlockThreads = kWorkers + 64;
// Hardware barriers; 0 is __syncthreads'.
inline constexpr int kBeginBarrier = 1;
inline constexpr int kEndBarrier = 2;
inline constexpr int kVoteBarrier = 3;
inline constexpr uint32_t kTeamThreads = kWorkers + 32;  // at the barriers, where a warp counts whole

}  // namespace dfccl::gpu
