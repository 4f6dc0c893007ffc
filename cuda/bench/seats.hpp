#pragma once
// The same work for ranks that are threads of one process and for ranks that are processes, through the C API.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>

#include "bench/harness.hpp"
#include "dfccl/dfccl.h"

namespace dfccl::gpu::bench {

/// Ends this rank's part with what dfccl or CUDA says.
class SeatError : public std::exception {
 public:
  explicit SeatError(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

void expect(dfcclResult_t result, const char* call);
#define DFCCL_EXPECT(call) ::dfccl::gpu::bench::expect((call), #call)

/// All ranks meet here, wherever they are.
struct SeatBarrier {
  Atomic<uint32_t> arrived, round;
  Atomic<uint32_t> words[16];  // for what else they tell one another

  /// @return whether all came within 30 seconds.
  bool wait(uint32_t count);
};

/// One rank, with its device current on its thread.
struct Seat {
  uint32_t rank, ranks;
  int device;
  bool isProcess;
  uint32_t machines;
  dfcclRankCtx_t context;
  SeatBarrier& barrier;
  cudaStream_t stream;  // for data and checks

  void meet() const;
  /// Waits for all runs of this rank, 20 seconds at most.
  void wait() const;
};

struct SeatOptions {
  uint32_t ranks;
  uint32_t grid;
  bool areProcesses;
  uint32_t machines = 1;  // make-believe ones, over which the processes are spread: they meet on loopback
  uint32_t muteMillis = 10'000;
  /// Where machines have networks of their own: a process goes on in its machine's. @return whether it could.
  std::function<bool(uint32_t machine)> enter;
  std::string address;  // then rank 0's, with a port
};

/// Runs `work` on every rank; a rank's end is 0 where it returned, 1 where it threw (and said what), minus a signal
/// that ended its process, 124 where it didn't end in time. @param during with the processes' numbers, while they work.
std::vector<int> onSeats(const SeatOptions& options, const std::function<void(Seat&)>& work,
                         const std::function<void(SeatBarrier&, const std::vector<int>& processes)>& during = {});

}  // namespace dfccl::gpu::bench
