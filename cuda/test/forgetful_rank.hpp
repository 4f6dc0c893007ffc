#pragma once
// A rank of a world with places for a few signatures, which it forgets and takes up again, at other times than its
// peers do. For ranks that are threads, and for those that are processes.
#include <cuda_runtime_api.h>

#include <array>
#include <random>
#include <string>

#include "dfccl/dfccl.h"

namespace dfccl::gpu::test {

class ForgetfulRank {
 public:
  static constexpr uint32_t kPlaces = 8;

  ForgetfulRank(dfcclRankCtx_t context, int rank, int ranks) : context_(context), rank_(rank), ranks_(ranks) {}

  /// Operations of a common order, and messages to itself in between. @return what is wrong; nothing: "".
  std::string carryOut(unsigned seed, int operations) {
    std::mt19937 common(seed), own(seed * 97 + static_cast<unsigned>(rank_));
    begin(seed);
    for (int number = 0, begun = 0; number < operations && wrong_.empty(); ++number) {
      const Operation what = draw(common);
      if (what.kind == Kind::message && rank_ != what.from && rank_ != what.to) continue;
      Outstanding& run = runs_[static_cast<size_t>(begun++) % runs_.size()];
      await(run);
      if (own() % 3 == 0) fillPlaces(1 + static_cast<int>(own() % 8), own);
      submit(what, number, run, own() % 2 == 0);
    }
    for (Outstanding& run : runs_) await(run);
    end();
    return wrong_;
  }

 private:
  static constexpr size_t kMost = 4;
  static constexpr uint64_t kPatienceMicros = 60'000'000;
  using Values = std::array<int32_t, kMost>;

  enum class Kind : uint8_t { message, reduction, broadcast };
  struct Operation {
    Kind kind;
    int from, to;
    size_t count;
    uint64_t tag;
  };
  struct Outstanding {
    dfcclRequest_t request = nullptr;
    bool isOnStream = false;
    int32_t *in = nullptr, *out = nullptr;  // on the device
    Values expected{};
  };

  /// The same on every rank.
  Operation draw(std::mt19937& common) const {
    const unsigned kind = common() % 4, from = common() % static_cast<unsigned>(ranks_);
    const unsigned to = (from + 1 + common() % static_cast<unsigned>(ranks_ - 1)) % static_cast<unsigned>(ranks_);
    const size_t count = 1 + common() % kMost;
    return {kind < 2    ? Kind::message
            : kind == 2 ? Kind::reduction
                        : Kind::broadcast,
            static_cast<int>(from), static_cast<int>(to), count, common() % 3};
  }
  static int32_t valueOf(int number, int rank, size_t i) { return 1000 * number + 10 * rank + static_cast<int32_t>(i); }

  void note(const std::string& what) {
    if (wrong_.empty()) wrong_ = "rank " + std::to_string(rank_) + ": " + what + ": " + dfcclGetLastError();
  }
  void expect(dfcclResult_t result, const char* what) {
    if (result != dfcclSuccess) note(what);
  }
  void expect(cudaError_t result, const char* what) {
    if (result != cudaSuccess) note(what);
  }

  void begin(unsigned seed) {
    wrong_.clear();
    expect(dfcclGroupCreate(nullptr, 0, seed, &group_, context_), "making the group");
    expect(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    void* memory = nullptr;
    expect(cudaMalloc(&memory, (2 * runs_.size() + 2) * sizeof(Values)), "allocating");
    memory_ = static_cast<int32_t*>(memory);
    for (size_t i = 0; i < runs_.size(); ++i) {
      runs_[i] = {};
      runs_[i].in = memory_ + 2 * i * kMost;
      runs_[i].out = runs_[i].in + kMost;
    }
  }
  void end() {
    expect(dfcclGroupDestroy(group_), "dropping the group");
    cudaFree(memory_);
    cudaStreamDestroy(stream_);
  }

  void store(int32_t* to, const Values& values) {
    expect(cudaMemcpyAsync(to, values.data(), sizeof values, cudaMemcpyHostToDevice, stream_), "storing");
    expect(cudaStreamSynchronize(stream_), "storing");
  }
  Values load(const int32_t* from) {
    Values values{};
    expect(cudaMemcpyAsync(values.data(), from, sizeof values, cudaMemcpyDeviceToHost, stream_), "loading");
    expect(cudaStreamSynchronize(stream_), "loading");
    return values;
  }

  void submit(const Operation& what, int number, Outstanding& run, bool isOnStream) {
    const auto [kind, from, to, count, tag] = what;
    Values values{}, nothing{};
    for (size_t i = 0; i < kMost; ++i) {
      values[i] = valueOf(number, rank_, i);
      nothing[i] = run.expected[i] = -1;
    }
    for (size_t i = 0; i < count && !(kind == Kind::message && rank_ == from); ++i) {
      run.expected[i] = kind == Kind::reduction ? 0 : valueOf(number, from, i);
      for (int r = 0; r < ranks_ && kind == Kind::reduction; ++r) run.expected[i] += valueOf(number, r, i);
    }
    store(run.in, values);
    store(run.out, nothing);
    run.isOnStream = isOnStream;
    const dfcclStream_t stream = isOnStream ? stream_ : nullptr;
    if (kind == Kind::reduction) {
      expect(dfcclAllReduce(run.in, run.out, count, dfcclInt32, dfcclSum, group_, tag, stream, &run.request), "sum");
    } else if (kind == Kind::broadcast) {
      expect(dfcclBroadcast(run.in, run.out, count, dfcclInt32, from, group_, tag, stream, &run.request), "broadcast");
    } else if (rank_ == from) {
      expect(dfcclSend(run.in, count, dfcclInt32, to, group_, tag, stream, &run.request), "send");
    } else {
      expect(dfcclRecv(run.out, count, dfcclInt32, from, group_, tag, stream, &run.request), "receive");
    }
  }

  void await(Outstanding& run) {
    if (run.request == nullptr) return;
    if (run.isOnStream) expect(cudaStreamSynchronize(stream_), "the stream");
    expect(dfcclWaitRun(run.request, kPatienceMicros), "waiting");
    run.request = nullptr;
    if (wrong_.empty() && load(run.out) != run.expected) note("a wrong result");
  }

  /// Each of a signature that no other rank has.
  void fillPlaces(int count, std::mt19937& random) {
    int32_t* const in = memory_ + 2 * runs_.size() * kMost;
    for (int i = 0; i < count; ++i) {
      const auto tag = static_cast<int32_t>(100 + random() % 30);
      const Values values{tag, tag + 1, tag + 2, tag + 3};
      store(in, values);
      dfcclRequest_t request = nullptr;
      const auto toTag = static_cast<uint64_t>(tag);
      expect(dfcclSend(in, kMost, dfcclInt32, rank_, group_, toTag, nullptr, nullptr), "a send to itself");
      expect(dfcclRecv(in + kMost, kMost, dfcclInt32, rank_, group_, toTag, nullptr, &request), "one from itself");
      if (request != nullptr) expect(dfcclWaitRun(request, kPatienceMicros), "a message to itself");
      if (wrong_.empty() && load(in + kMost) != values) note("a wrong message to itself");
    }
  }

  const dfcclRankCtx_t context_;
  const int rank_, ranks_;
  dfcclGroup_t group_ = nullptr;
  cudaStream_t stream_ = nullptr;
  int32_t* memory_ = nullptr;
  std::array<Outstanding, 2> runs_;
  std::string wrong_;
};

}  // namespace dfccl::gpu::test
