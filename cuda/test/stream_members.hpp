#pragma once
// Ranks that each have a stream: it holds what comes behind it until it is let go, fills inputs and reads results. What
// holds a stream is a function of the host's that waits: it is the tests', the engine has none.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "streams.hpp"

namespace dfccl::gpu::test {

/// Holds streams until it is opened.
class Barrier {
 public:
  ~Barrier() { open(); }
  void hold(cudaStream_t stream) {
    REQUIRE(cudaLaunchHostFunc(
                stream, [](void* barrier) { static_cast<Barrier*>(barrier)->wait(); }, this) == cudaSuccess);
  }
  void open() { isOpen_ = true; }

 private:
  void wait() const {
    while (!isOpen_) std::this_thread::yield();
  }
  std::atomic<bool> isOpen_{false};
};

/// The host's memory as copies of a stream need it.
class PinnedArray {
 public:
  PinnedArray(size_t count, int32_t value) : count_(count) {
    REQUIRE(cudaMallocHost(reinterpret_cast<void**>(&data_), count * sizeof(int32_t)) == cudaSuccess);
    fill(value);
  }
  ~PinnedArray() { cudaFreeHost(data_); }
  PinnedArray(PinnedArray&& other) noexcept : count_(other.count_), data_(other.data_) { other.data_ = nullptr; }
  PinnedArray& operator=(PinnedArray&&) = delete;

  int32_t* data() const { return data_; }
  size_t bytes() const { return count_ * sizeof(int32_t); }
  void fill(int32_t value) const { std::fill(data_, data_ + count_, value); }
  bool isAll(int32_t value) const {
    return std::all_of(data_, data_ + count_, [=](int32_t v) { return v == value; });
  }

 private:
  size_t count_;
  int32_t* data_ = nullptr;
};

/// One rank of a small all-reduce: its stream fills the input, and reads the result.
struct Member {
  Member(const GpuRanks& ranks, int rank, size_t count, int priority = 0)
      : stream(ranks.device(rank), priority),
        send(ranks.device(rank), count),
        recv(ranks.device(rank), count),
        input(count, rank + 1),
        output(count, -1) {
    send.set(std::vector<int32_t>(count, 0));
  }
  void fill() const {
    REQUIRE(cudaMemcpyAsync(send.data(), input.data(), input.bytes(), cudaMemcpyHostToDevice, stream) == cudaSuccess);
  }
  void read() const {
    REQUIRE(cudaMemcpyAsync(output.data(), recv.data(), output.bytes(), cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  }

  Stream stream;
  DeviceArray<int32_t> send, recv;
  PinnedArray input, output;
};

inline void registerAll(const GpuRanks& ranks, int id, size_t count) {
  for (int r = 0; r < ranks.size(); ++r) {
    CHECK_OK(dfcclRegisterAllReduce(count, dfcclInt32, dfcclSum, id, dfcclAllRanks(), 0, ranks[r]));
  }
}

inline std::vector<Member> membersOf(const GpuRanks& ranks, int id, size_t count, int priority = 0) {
  registerAll(ranks, id, count);
  std::vector<Member> members;
  for (int r = 0; r < ranks.size(); ++r) members.emplace_back(ranks, r, count, priority);
  return members;
}

/// A run of every rank from `first` on, behind nothing.
inline void runAll(const GpuRanks& ranks, const std::vector<Member>& members, int id, int first = 0,
                   dfcclCallback_t callback = nullptr, void* arguments = nullptr) {
  for (int r = first; r < ranks.size(); ++r) {
    const Member& m = members[static_cast<size_t>(r)];
    CHECK_OK(dfcclRun(m.send.data(), m.recv.data(), id, callback, arguments, ranks[r]));
  }
}

inline std::vector<int> shuffledIds(int count, std::mt19937& random) {
  std::vector<int> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  std::shuffle(ids.begin(), ids.end(), random);
  return ids;
}

inline int32_t sumOfInputs(const GpuRanks& ranks) { return ranks.size() * (ranks.size() + 1) / 2; }

inline dfcclCounters_t countersOf(dfcclRankCtx_t rank) {
  dfcclCounters_t counters{};
  counters.structSize = sizeof counters;
  CHECK_OK(dfcclGetCounters(&counters, rank));
  return counters;
}

}  // namespace dfccl::gpu::test
