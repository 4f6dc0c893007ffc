// Calls without an id, of ranks on GPUs of several machines.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "simulated/machine_ranks.hpp"

using namespace dfccl::gpu::simulated::test;

namespace {

/// A call of a kind of its own for each number, and whether its result is right.
struct Call {
  int number;
  Joined& me;
  dfcclGroup_t group;
  int32_t *in, *out;

  size_t count() const { return static_cast<size_t>(10 + number * 97); }
  size_t members() const { return static_cast<size_t>(me.ranks); }

  int submit(int round, cudaStream_t stream, dfcclRequest_t* request) {
    fill(in, count() * members(), me.rank, number + round);
    switch (number % 5) {
      case 0:
        OK(dfcclAllReduce(in, out, count(), dfcclInt32, dfcclSum, group, 0, stream, request));
        break;
      case 1:
        OK(dfcclAllGather(in, out, count(), dfcclInt32, group, 0, stream, request));
        break;
      case 2:
        OK(dfcclReduceScatter(in, out, count(), dfcclInt32, dfcclSum, group, 0, stream, request));
        break;
      case 3:
        OK(dfcclAllToAll(in, out, count(), dfcclInt32, group, 0, stream, request));
        break;
      default:
        OK(dfcclBroadcast(in, out, count(), dfcclInt32, number % me.ranks, group, 0, stream, request));
    }
    return kFine;
  }

  bool isRight(int round) const {
    const auto own = static_cast<size_t>(me.rank) * count();
    const auto sumOf = [&](size_t i) {
      int32_t sum = 0;
      for (int r = 0; r < me.ranks; ++r) sum += valueOf(i, r, number + round);
      return sum;
    };
    for (size_t i = 0; i < count(); ++i) {
      if (number % 5 == 0 && out[i] != sumOf(i)) return false;
      if (number % 5 == 2 && out[i] != sumOf(own + i)) return false;
      if (number % 5 == 4 && out[i] != valueOf(i, number % me.ranks, number + round)) return false;
      for (size_t r = 0; r < members() && (number % 5 == 1 || number % 5 == 3); ++r) {
        const size_t from = number % 5 == 1 ? i : own + i;
        if (out[r * count() + i] != valueOf(from, static_cast<int>(r), number + round)) return false;
      }
    }
    return true;
  }
};

}  // namespace

TEST_CASE("calls of all kinds, more than the tables hold, are left and come back to in orders of each rank's own") {
  onMachines(
      {2, 2},
      [](Joined& me) -> int {
        constexpr int kCalls = 30, kAtOnce = 5, kRounds = 60;
        dfcclGroup_t group = nullptr;
        OK(dfcclGroupCreate(nullptr, 0, 0, &group, me.context));
        std::vector<Call> calls;
        for (int number = 0; number < kCalls; ++number) {
          calls.push_back({number, me, group, nullptr, nullptr});
          const size_t elements = calls.back().count() * calls.back().members();
          calls.back().in = allocate(elements);
          calls.back().out = allocate(elements);
        }
        cudaStream_t stream = nullptr;
        EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
        std::mt19937 common(7), own(static_cast<unsigned>(me.rank));
        std::vector<int> order = firstRanks(kCalls);
        for (int round = 0; round < kRounds; ++round) {
          std::shuffle(order.begin(), order.end(), common);
          std::vector<int> mine(order.begin(), order.begin() + kAtOnce);
          std::shuffle(mine.begin(), mine.end(), own);
          std::vector<dfcclRequest_t> requests(kAtOnce);
          for (size_t i = 0; i < mine.size(); ++i) {
            const bool isBehind = own() % 2 == 0;
            EXPECT(calls[static_cast<size_t>(mine[i])].submit(round, isBehind ? stream : nullptr, &requests[i]) ==
                   kFine);
          }
          OK(dfcclWaitRuns(requests.data(), kAtOnce, kLimitMicros));
          for (const int number : mine) EXPECT(calls[static_cast<size_t>(number)].isRight(round));
        }
        EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
        OK(dfcclGroupDestroy(group));
        return kFine;
      },
      0, 16);
}

TEST_CASE("more different calls are made, one behind the other, than the host has memory for connectors of") {
  constexpr size_t kMegabytes = 32, kCalls = 200, kFewest = 40'000;  // 256 KiB each, of half of that
  onMachines(
      {2, 1},
      [](Joined& me) -> int {
        dfcclGroup_t group = nullptr;
        OK(dfcclGroupCreate(nullptr, 0, 0, &group, me.context));
        int32_t *in = allocate(kFewest + kCalls), *out = allocate(kFewest + kCalls);
        for (size_t call = 0; call < 2 * kCalls; ++call) {
          const size_t count = kFewest + call % kCalls;
          const int k = static_cast<int>(call);
          fill(in, count, me.rank, k);
          dfcclRequest_t request = nullptr;
          OK(dfcclAllReduce(in, out, count, dfcclInt32, dfcclSum, group, 0, nullptr, &request));
          OK(dfcclWaitRun(request, kLimitMicros));
          EXPECT(isSum(out, count, firstRanks(me.ranks), k));
        }
        OK(dfcclGroupDestroy(group));
        return kFine;
      },
      0, 0, kMegabytes);
}

TEST_CASE("messages of any size reach ranks on other machines, sent before or after they are asked for") {
  onMachines({2, 2}, [](Joined& me) -> int {
    dfcclGroup_t group = nullptr;
    OK(dfcclGroupCreate(nullptr, 0, 0, &group, me.context));
    for (const size_t count : {1ul, 3000ul, 200'000ul}) {
      std::vector<int32_t*> in, out;
      std::vector<dfcclRequest_t> requests;
      for (int peer = 0; peer < me.ranks; ++peer) {
        in.push_back(allocate(count));
        out.push_back(allocate(count));
        fill(in.back(), count, me.rank, peer);
      }
      const auto send = [&](int peer) {
        return dfcclSend(in[static_cast<size_t>(peer)], count, dfcclInt32, peer, group, 0, nullptr,
                         &requests.emplace_back());
      };
      const auto receive = [&](int peer) {
        return dfcclRecv(out[static_cast<size_t>(peer)], count, dfcclInt32, peer, group, 0, nullptr,
                         &requests.emplace_back());
      };
      for (int peer = 0; peer < me.ranks; ++peer) {
        if (peer == me.rank) continue;
        OK(me.rank % 2 == 0 ? send(peer) : receive(peer));
      }
      for (int peer = me.ranks - 1; peer >= 0; --peer) {
        if (peer == me.rank) continue;
        OK(me.rank % 2 == 0 ? receive(peer) : send(peer));
      }
      OK(dfcclWaitRuns(requests.data(), static_cast<int>(requests.size()), kLimitMicros));
      for (int peer = 0; peer < me.ranks; ++peer) {
        for (size_t i = 0; i < count && peer != me.rank; ++i) {
          EXPECT(out[static_cast<size_t>(peer)][i] == valueOf(i, peer, me.rank));
        }
      }
    }
    OK(dfcclGroupDestroy(group));
    return kFine;
  });
}

TEST_CASE(
    "what only kernels in streams and graphs do is refused to groups on several machines, and leaves them usable") {
  onMachines({2, 1}, [](Joined& me) -> int {
    dfcclGroup_t group = nullptr;
    OK(dfcclGroupCreate(nullptr, 0, 0, &group, me.context));
    EXPECT(dfcclGroupRunInStreams(group, 1 << 16, 0, dfcclForAll) == dfcclUnavailable);
    int32_t *in = allocate(100), *out = allocate(100);
    cudaStream_t stream = nullptr;
    EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    EXPECT(dfcclAllReduce(in, out, 100, dfcclInt32, dfcclSum, group, 0, stream, nullptr) == dfcclUnavailable);
    cudaGraph_t graph = nullptr;
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    EXPECT(cudaGraphDestroy(graph) == cudaSuccess);
    fill(in, 100, me.rank, 0);
    OK(dfcclAllReduce(in, out, 100, dfcclInt32, dfcclSum, group, 0, stream, nullptr));
    OK(dfcclWaitFor(kLimitMicros, me.context));
    EXPECT(isSum(out, 100, firstRanks(me.ranks), 0));
    int source;
    EXPECT(dfcclRecvAny(out, 100, dfcclInt32, &source, group, 0, nullptr) == dfcclUnavailable);
    // A group of one machine is none of those.
    dfcclGroup_t alone = nullptr;
    OK(dfcclGroupCreate(&me.rank, 1, 1, &alone, me.context));
    OK(dfcclGroupRunInStreams(alone, 1 << 16, 0, dfcclForAll));
    OK(dfcclGroupDestroy(alone));
    OK(dfcclGroupDestroy(group));
    EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
    return kFine;
  });
}
