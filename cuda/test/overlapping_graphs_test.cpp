// Launches that are under way at once, of graphs whose runs have the same signatures: which rank's run meets which.
#include <array>
#include <random>
#include <string>

#include "graphs.hpp"
#include "groups.hpp"
#include "stream_members.hpp"

using namespace dfccl::gpu::test;

namespace {

// A block carries the first one out, several the second one.
constexpr size_t kCounts[] = {1000, 20'000};

/// What is made of one captured graph: several that are launched by themselves.
class Copies {
 public:
  template <class Record>
  Copies(int device, cudaStream_t stream, const Record& record) {
    cudaSetDevice(device);
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    record();
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    for (cudaGraphExec_t& copy : made_) REQUIRE(cudaGraphInstantiate(&copy, graph, 0) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  }
  ~Copies() {
    for (const cudaGraphExec_t copy : made_) cudaGraphExecDestroy(copy);
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  void launch(size_t copy, cudaStream_t stream) const { REQUIRE(cudaGraphLaunch(made_[copy], stream) == cudaSuccess); }

 private:
  std::array<cudaGraphExec_t, 2> made_{};
};

void sum(const DeviceArray<int32_t>& send, const DeviceArray<int32_t>& recv, size_t count, dfcclGroup_t group,
         cudaStream_t stream) {
  dfcclRequest_t request = nullptr;
  CHECK_OK(dfcclAllReduce(send.data(), recv.data(), count, dfcclInt32, dfcclSum, group, 0, stream, &request));
  CHECK_OK(dfcclWaitRunOnStream(request, stream));
  CHECK_OK(dfcclFreeRequest(request));
}

/// A run without an id, and behind it one of collective 1, which changes nothing.
void sumAndSpread(const GpuRanks& ranks, int r, dfcclGroup_t group, const Captured& c, size_t count) {
  sum(c.send, c.recv, count, group, c.stream);
  CHECK_OK(dfcclRunOnStream(c.recv.data(), c.recv.data(), 1, c.stream, nullptr, nullptr, ranks[r]));
  CHECK_OK(dfcclWaitOnStream(1, c.stream, ranks[r]));
}

/// A rank's graphs, each with a stream of its own.
struct RankGraphs {
  std::vector<Captured> graphs;
  std::vector<size_t> order;
};

/// Launches all graphs of all ranks at once, in other orders on each. @param valueOf(rank, graph) what each sends
/// @param expected(graph)
template <class ValueOf, class Expected>
void launchInRandomOrders(std::vector<RankGraphs>& ranks, size_t count, std::mt19937& random, const ValueOf& valueOf,
                          const Expected& expected) {
  for (size_t r = 0; r < ranks.size(); ++r) {
    for (size_t g = 0; g < ranks[r].graphs.size(); ++g) ranks[r].graphs[g].send.set(Values(count, valueOf(r, g)));
  }
  for (RankGraphs& mine : ranks) {
    std::shuffle(mine.order.begin(), mine.order.end(), random);
    for (const size_t g : mine.order) mine.graphs[g].graph[0].launch(mine.graphs[g].stream);
  }
  for (const RankGraphs& mine : ranks) {
    for (size_t g = 0; g < mine.graphs.size(); ++g) {
      REQUIRE(mine.graphs[g].stream.synchronize());
      const Values got = mine.graphs[g].recv.get();
      CHECK(std::count(got.begin(), got.end(), expected(g)) == static_cast<ptrdiff_t>(count));
    }
  }
}

/// @param record(rank, graph, its buffers and stream)
template <class Record>
std::vector<RankGraphs> captureEach(const GpuRanks& ranks, size_t graphs, size_t count, const Record& record) {
  std::vector<RankGraphs> each(static_cast<size_t>(ranks.size()));
  for (int r = 0; r < ranks.size(); ++r) {
    RankGraphs& mine = each[static_cast<size_t>(r)];
    for (size_t g = 0; g < graphs; ++g) {
      Captured& c = mine.graphs.emplace_back(ranks.device(r), count, count);
      c.graph.emplace_back(ranks.device(r), c.stream, [&] { record(r, c); });
      mine.order.push_back(g);
    }
  }
  return each;
}

}  // namespace

TEST_CASE("graphs of the same calls are launched at once, in other orders on each rank") {
  constexpr size_t kGraphs = 3;
  const GpuRanks ranks;
  const Groups groups(ranks);
  std::mt19937 random(7);
  for (const size_t count : kCounts) {
    std::vector<RankGraphs> each = captureEach(ranks, kGraphs, count, [&](int r, const Captured& c) {
      for (int i = 0; i < kChain; ++i) sum(c.send, c.recv, count, groups[r], c.stream);
    });
    for (int round = 0; round < (kIsSimulated ? 5 : 300); ++round) {
      launchInRandomOrders(
          each, count, random,
          [&](size_t r, size_t g) { return static_cast<int32_t>(1000 * g + 10 * static_cast<size_t>(round) + r); },
          [&](size_t g) {
            const int least = static_cast<int>(1000 * g) + 10 * round;
            return ranks.size() * least + ranks.size() * (ranks.size() - 1) / 2;
          });
    }
  }
}

TEST_CASE("graphs with runs of one id are launched at once, in other orders on each rank") {
  constexpr size_t kGraphs = 3, kCount = 1000;
  const GpuRanks ranks;
  registerOnAll(ranks, 1, kCount);
  std::mt19937 random(8);
  std::vector<RankGraphs> each = captureEach(ranks, kGraphs, kCount, [&](int r, const Captured& c) {
    CHECK_OK(dfcclRunOnStream(c.send.data(), c.recv.data(), 1, c.stream, nullptr, nullptr, ranks[r]));
    CHECK_OK(dfcclWaitOnStream(1, c.stream, ranks[r]));
  });
  for (int round = 0; round < (kIsSimulated ? 20 : 300); ++round) {
    launchInRandomOrders(
        each, kCount, random,
        [&](size_t r, size_t g) { return static_cast<int32_t>(1000 * g + 10 * static_cast<size_t>(round) + r); },
        [&](size_t g) { return static_cast<int32_t>(1000 * g) + 10 * round + ranks.size() - 1; });
  }
  for (RankGraphs& mine : each) mine.graphs.clear();
  for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclUnregister(1, ranks[r]));
}

TEST_CASE("two graphs made of one are launched at once on one rank, and one behind the other on the next") {
  const GpuRanks ranks;
  const Groups groups(ranks);
  for (const size_t count : kCounts) {
    std::vector<Captured> each;
    std::vector<std::unique_ptr<Copies>> copies;
    std::vector<Stream> others;
    for (int r = 0; r < ranks.size(); ++r) {
      Captured& c = each.emplace_back(ranks.device(r), count, count);
      giveFirstWork(others.emplace_back(ranks.device(r)), c.recv.data());
      copies.push_back(std::make_unique<Copies>(ranks.device(r), c.stream, [&] {
        for (int i = 0; i < kChain; ++i) sum(c.send, c.recv, count, groups[r], c.stream);
      }));
    }
    for (int round = 0; round < (kIsSimulated ? 5 : 300); ++round) {
      for (size_t r = 0; r < each.size(); ++r) each[r].send.set(Values(count, round * 10 + static_cast<int>(r)));
      for (size_t r = 0; r < each.size(); ++r) {
        cudaSetDevice(ranks.device(static_cast<int>(r)));
        const bool isAtOnce = r == static_cast<size_t>(round) % each.size();
        copies[r]->launch(0, each[r].stream);
        copies[r]->launch(1, isAtOnce ? others[r] : each[r].stream);
      }
      const int expected = ranks.size() * round * 10 + ranks.size() * (ranks.size() - 1) / 2;
      for (size_t r = 0; r < each.size(); ++r) {
        REQUIRE(each[r].stream.synchronize());
        REQUIRE(others[r].synchronize());
        const Values got = each[r].recv.get();
        CHECK(std::count(got.begin(), got.end(), expected) == static_cast<ptrdiff_t>(count));
      }
    }
  }
}

TEST_CASE("a launch whose peers have captured nothing to meet it is described") {
  constexpr size_t kCount = 1000;
  const GpuRanks ranks;
  const Groups groups(ranks);
  registerOnAll(ranks, 1, kCount);
  std::vector<Captured> each;
  const auto captureAndLaunch = [&](int r) {
    Captured& c = each.emplace_back(ranks.device(r), kCount, kCount);
    c.send.set(Values(kCount, r));
    c.graph.emplace_back(ranks.device(r), c.stream, [&] { sumAndSpread(ranks, r, groups[r], c, kCount); });
    c.graph[0].launch(c.stream);
  };
  const auto describe = [&] {
    std::string text(4096, '\0');
    CHECK_OK(dfcclDescribe(text.data(), text.size(), ranks[0]));
    return text;
  };
  if (!kIsSimulated && deviceCount() < 2) return skip("needs two GPUs: the second rank captures beside a launch");
  each.reserve(static_cast<size_t>(ranks.size()));
  captureAndLaunch(0);
  // It comes to its first run, the group's, in a moment.
  const std::string last = "rank " + std::to_string(ranks.size() - 1) + " has not captured it so often.";
  while (describe().find(last) == std::string::npos) std::this_thread::yield();
  CHECK(describe().find(", in graph 1") != std::string::npos);
  for (int r = 1; r < ranks.size(); ++r) captureAndLaunch(r);
  for (const Captured& c : each) {
    REQUIRE(c.stream.synchronize());
    CHECK(c.recv.get() == Values(kCount, ranks.size() * (ranks.size() - 1) / 2));
  }
  CHECK(describe().find("captured") == std::string::npos);
  each.clear();
  for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclUnregister(1, ranks[r]));
}

TEST_CASE("graphs that are thrown away unlaunched count, whenever they go on each rank") {
  constexpr size_t kCount = 1000;
  const GpuRanks ranks;
  const Groups groups(ranks);
  registerOnAll(ranks, 1, kCount);
  std::vector<Graph> thrownAwayLate;
  for (int round = 0; round < 3; ++round) {
    std::vector<RankGraphs> each(static_cast<size_t>(ranks.size()));
    for (int r = 0; r < ranks.size(); ++r) {
      Captured& c = each[static_cast<size_t>(r)].graphs.emplace_back(ranks.device(r), kCount, kCount);
      each[static_cast<size_t>(r)].order.push_back(0);
      const auto record = [&] { sumAndSpread(ranks, r, groups[r], c, kCount); };
      Graph unused(ranks.device(r), c.stream, record);
      if (r == 0) thrownAwayLate.push_back(std::move(unused));
      c.graph.emplace_back(ranks.device(r), c.stream, record);
    }
    std::mt19937 random(1);
    for (int launch = 0; launch < 2; ++launch) {
      launchInRandomOrders(
          each, kCount, random, [&](size_t r, size_t) { return static_cast<int32_t>(launch + static_cast<int>(r)); },
          [&](size_t) { return ranks.size() * launch + ranks.size() * (ranks.size() - 1) / 2; });
    }
  }
  thrownAwayLate.clear();
  for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclUnregister(1, ranks[r]));
}

TEST_CASE("a capture for which there was no memory doesn't count") {
  constexpr size_t kCount = 100'000;
  constexpr int kMet = 5000;
  const GpuRanks ranks;
  registerOnAll(ranks, kMet, kCount);
  std::vector<Captured> each;
  for (int r = 0; r < ranks.size(); ++r) each.emplace_back(ranks.device(r), kCount, kCount);
  const auto run = [&](int r, int id) {
    const Captured& c = each[static_cast<size_t>(r)];
    return dfcclRunOnStream(c.send.data(), c.recv.data(), id, c.stream, nullptr, nullptr, ranks[r]);
  };
  int filled = 0;
  {
    const Graph graph(ranks.device(0), each[0].stream, [&] {
      for (bool isFull = false; !isFull && filled < kMet; ++filled) {
        CHECK_OK(dfcclRegisterAllReduce(kCount, dfcclInt32, dfcclSum, filled, dfcclAllRanks(), 0, ranks[0]));
        isFull = run(0, filled) != dfcclSuccess;
        if (!isFull) CHECK_OK(dfcclWaitOnStream(filled, each[0].stream, ranks[0]));
      }
      CHECK(run(0, kMet) == dfcclOutOfMemory);
    });
  }
  for (int id = 0; id < filled; ++id) CHECK_OK(dfcclUnregister(id, ranks[0]));
  for (int r = 0; r < ranks.size(); ++r) {
    Captured& c = each[static_cast<size_t>(r)];
    c.send.set(Values(kCount, r));
    c.graph.emplace_back(ranks.device(r), c.stream, [&] {
      CHECK_OK(run(r, kMet));
      CHECK_OK(dfcclWaitOnStream(kMet, c.stream, ranks[r]));
    });
  }
  for (const Captured& c : each) c.graph[0].launch(c.stream);
  for (const Captured& c : each) {
    REQUIRE(c.stream.synchronize());
    CHECK(c.recv.get() == Values(kCount, ranks.size() - 1));
  }
  each.clear();
  for (int r = 0; r < ranks.size(); ++r) CHECK_OK(dfcclUnregister(kMet, ranks[r]));
}
