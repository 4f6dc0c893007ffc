// What a call of NCCL's takes the host beside the calls of dfccl's C API that do the same: an all-reduce of 8 bytes on
// a stream, which waits for it. Two ranks, each a thread, share the devices there are; both kinds of calls by turns.
//   call_overhead [ROUNDS]
#include <cuda_runtime_api.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "entry_points.hpp"
#include "nccl_api/calls/communicator.hpp"

namespace {

constexpr int kRanks = 2;
constexpr int kCalls = 100;  // of a round, behind each other on the stream
constexpr int kWarmUp = 5;   // rounds
constexpr size_t kCount = 2;

void must(bool isWell, const char* what) {
  if (isWell) return;
  std::fprintf(stderr, "%s: %s; %s\n", what, ncclGetLastError(nullptr), dfcclGetLastError());
  std::exit(1);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The same that ncclAllReduce comes to.
void allReduceByDfccl(const float* send, float* recv, dfcclGroup_t group, cudaStream_t stream) {
  dfcclRequest_t request = nullptr;
  must(dfcclAllReduce(send, recv, kCount, dfcclFloat32, dfcclSum, group, 0, stream, &request) == dfcclSuccess,
       "dfcclAllReduce");
  must(dfcclWaitRunOnStream(request, stream) == dfcclSuccess, "dfcclWaitRunOnStream");
  must(dfcclFreeRequest(request) == dfcclSuccess, "dfcclFreeRequest");
}

class Rank {
 public:
  Rank(const ncclUniqueId& id, int rank) {
    int devices = 0;
    must(cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0, "cudaGetDeviceCount");
    must(cudaSetDevice(rank % devices) == cudaSuccess, "cudaSetDevice");
    must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) == cudaSuccess, "cudaStreamCreateWithFlags");
    must(cudaMalloc(reinterpret_cast<void**>(&buffer_), 2 * kCount * sizeof(float)) == cudaSuccess, "cudaMalloc");
    must(cudaMemset(buffer_, 0, 2 * kCount * sizeof(float)) == cudaSuccess, "cudaMemset");
    must(ncclCommInitRank(&comm_, kRanks, id, rank) == ncclSuccess, "ncclCommInitRank");
    group_ = dfccl::nccl::Communicators::find(comm_)->group();
  }
  ~Rank() { ncclCommDestroy(comm_); }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  /// @return microseconds a call
  double round(bool isNccl) {
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) {
      if (isNccl) {
        must(ncclAllReduce(buffer_, buffer_ + kCount, kCount, ncclFloat32, ncclSum, comm_, stream_) == ncclSuccess,
             "ncclAllReduce");
      } else {
        allReduceByDfccl(buffer_, buffer_ + kCount, group_, stream_);
      }
    }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
    must(cudaStreamSynchronize(stream_) == cudaSuccess, "cudaStreamSynchronize");
    return took.count() / kCalls;
  }

 private:
  ncclComm_t comm_ = nullptr;
  dfcclGroup_t group_ = nullptr;
  cudaStream_t stream_ = nullptr;
  float* buffer_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 200;
  ncclUniqueId id{};
  must(ncclGetUniqueId(&id) == ncclSuccess, "ncclGetUniqueId");
  std::barrier together(kRanks);
  std::vector<double> ofNccl, ofDfccl;  // rank 0's
  const auto run = [&](int number) {
    Rank rank(id, number);
    for (int turn = 0; turn < 2 * (kWarmUp + rounds); ++turn) {
      together.arrive_and_wait();
      const bool isNccl = turn % 2 == 0;
      const double micros = rank.round(isNccl);
      if (number == 0 && turn >= 2 * kWarmUp) (isNccl ? ofNccl : ofDfccl).push_back(micros);
    }
    together.arrive_and_wait();
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  std::printf(
      "{\"what\":\"call_overhead\",\"bytes\":%zu,\"ranks\":%d,\"calls\":%d,\"rounds\":%d,\"ncclMicros\":%.2f,"
      "\"dfcclMicros\":%.2f,\"more\":%.2f}\n",
      kCount * sizeof(float), kRanks, kCalls, rounds, median(ofNccl), median(ofDfccl),
      median(ofNccl) - median(ofDfccl));
  return 0;
}
