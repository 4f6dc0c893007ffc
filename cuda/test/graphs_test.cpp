// Runs that graphs carry out: captured once, launched again and again, without the host.
#include <algorithm>
#include <random>
#include <string>

#include "graphs.hpp"
#include "groups.hpp"
#include "stream_members.hpp"

using namespace dfccl::gpu::test;

namespace {

/// What rank `r` sends at `place` in round `round`.
int32_t valueOf(int r, size_t place, int round) {
  return static_cast<int32_t>((r + 1) * 1000003 + static_cast<int>(place) * 31 + round * 7 + 1);
}
Values inputOf(int r, size_t count, int round) {
  Values values(count);
  for (size_t i = 0; i < count; ++i) values[i] = valueOf(r, i, round);
  return values;
}
int32_t sumOf(int ranks, size_t place, int round) {
  int32_t sum = 0;
  for (int r = 0; r < ranks; ++r) sum += valueOf(r, place, round);
  return sum;
}

/// A collective: how much of a segment its buffers hold, the call, and what must come of it.
struct Kind {
  const char* name;
  bool sendsAll, receivesAll;
  dfcclResult_t (*call)(const Captured&, size_t count, dfcclGroup_t, dfcclStream_t, dfcclRequest_t*);
  int32_t (*expected)(int ranks, int rank, size_t count, size_t place, int round);
};

constexpr int kRoot = 1;
const Kind kinds[] = {
    {"all-reduce", false, false,
     [](const Captured& c, size_t count, dfcclGroup_t group, dfcclStream_t stream, dfcclRequest_t* request) {
       return dfcclAllReduce(c.send.data(), c.recv.data(), count, dfcclInt32, dfcclSum, group, 0, stream, request);
     },
     [](int ranks, int, size_t, size_t place, int round) { return sumOf(ranks, place, round); }},
    {"all-gather", false, true,
     [](const Captured& c, size_t count, dfcclGroup_t group, dfcclStream_t stream, dfcclRequest_t* request) {
       return dfcclAllGather(c.send.data(), c.recv.data(), count, dfcclInt32, group, 0, stream, request);
     },
     [](int, int, size_t count, size_t place, int round) {
       return valueOf(static_cast<int>(place / count), place % count, round);
     }},
    {"reduce-scatter", true, false,
     [](const Captured& c, size_t count, dfcclGroup_t group, dfcclStream_t stream, dfcclRequest_t* request) {
       return dfcclReduceScatter(c.send.data(), c.recv.data(), count, dfcclInt32, dfcclSum, group, 0, stream, request);
     },
     [](int ranks, int rank, size_t count, size_t place, int round) {
       return sumOf(ranks, static_cast<size_t>(rank) * count + place, round);
     }},
    {"all-to-all", true, true,
     [](const Captured& c, size_t count, dfcclGroup_t group, dfcclStream_t stream, dfcclRequest_t* request) {
       return dfcclAllToAll(c.send.data(), c.recv.data(), count, dfcclInt32, group, 0, stream, request);
     },
     [](int, int rank, size_t count, size_t place, int round) {
       return valueOf(static_cast<int>(place / count), static_cast<size_t>(rank) * count + place % count, round);
     }},
    {"broadcast", false, false,
     [](const Captured& c, size_t count, dfcclGroup_t group, dfcclStream_t stream, dfcclRequest_t* request) {
       return dfcclBroadcast(c.send.data(), c.recv.data(), count, dfcclInt32, kRoot, group, 0, stream, request);
     },
     [](int, int, size_t, size_t place, int round) { return valueOf(kRoot, place, round); }},
    {"reduce", false, false,
     [](const Captured& c, size_t count, dfcclGroup_t group, dfcclStream_t stream, dfcclRequest_t* request) {
       return dfcclReduce(c.send.data(), c.recv.data(), count, dfcclInt32, dfcclSum, kRoot, group, 0, stream, request);
     },
     [](int ranks, int rank, size_t, size_t place, int round) {
       return rank == kRoot ? sumOf(ranks, place, round) : 0;
     }},
    {"gather", false, true,
     [](const Captured& c, size_t count, dfcclGroup_t group, dfcclStream_t stream, dfcclRequest_t* request) {
       return dfcclGather(c.send.data(), c.recv.data(), count, dfcclInt32, kRoot, group, 0, stream, request);
     },
     [](int, int rank, size_t count, size_t place, int round) {
       return rank == kRoot ? valueOf(static_cast<int>(place / count), place % count, round) : 0;
     }},
    {"scatter", true, false,
     [](const Captured& c, size_t count, dfcclGroup_t group, dfcclStream_t stream, dfcclRequest_t* request) {
       return dfcclScatter(c.send.data(), c.recv.data(), count, dfcclInt32, kRoot, group, 0, stream, request);
     },
     [](int, int rank, size_t count, size_t place, int round) {
       return valueOf(kRoot, static_cast<size_t>(rank) * count + place, round);
     }},
};

/// Captures a collective on every rank, and lets the stream wait for it.
std::vector<Captured> captureAll(const GpuRanks& ranks, const Groups& groups, const Kind& kind, size_t count) {
  std::vector<Captured> made;
  const auto all = static_cast<size_t>(ranks.size()) * count;
  for (int r = 0; r < ranks.size(); ++r) {
    Captured& c = made.emplace_back(ranks.device(r), kind.sendsAll ? all : count, kind.receivesAll ? all : count);
    c.recv.set(Values(kind.receivesAll ? all : count, 0));
    c.graph.emplace_back(ranks.device(r), c.stream, [&] {
      dfcclRequest_t request = nullptr;
      CHECK_OK(kind.call(c, count, groups[r], c.stream, &request));
      CHECK_OK(dfcclWaitRunOnStream(request, c.stream));
      CHECK_OK(dfcclFreeRequest(request));
    });
  }
  return made;
}

}  // namespace

TEST_CASE("every collective is carried out by graphs, again and again, whatever its size") {
  const GpuRanks ranks;
  const Groups groups(ranks);
  for (const Kind& kind : kinds) {
    for (const size_t count :
         {size_t{1}, size_t{3}, size_t{1000}, size_t{5000}, kIsSimulated ? size_t{70'001} : size_t{300'001}}) {
      INFO(kind.name, " of ", count);
      const std::vector<Captured> captured = captureAll(ranks, groups, kind, count);
      for (int round = 0; round < 4; ++round) {
        for (int r = 0; r < ranks.size(); ++r) {
          const Captured& c = captured[static_cast<size_t>(r)];
          c.send.set(inputOf(r, c.send.get().size(), round));
        }
        // In another order each time.
        for (int i = 0; i < ranks.size(); ++i) {
          const Captured& c = captured[static_cast<size_t>((i + round) % ranks.size())];
          c.graph[0].launch(c.stream);
        }
        for (int r = 0; r < ranks.size(); ++r) {
          const Captured& c = captured[static_cast<size_t>(r)];
          REQUIRE(c.stream.synchronize());
          const Values got = c.recv.get();
          size_t wrong = 0;
          for (size_t i = 0; i < got.size(); ++i) {
            wrong += got[i] != kind.expected(ranks.size(), r, count, i, round) ? 1 : 0;
          }
          CHECK(wrong == 0);
        }
      }
    }
  }
}

TEST_CASE("graphs are launched in other orders on each rank, beside runs of the same ids and of others") {
  constexpr int kGraphs = 3;
  constexpr size_t kCount = 2000;
  const GpuRanks ranks;
  for (int id = 0; id < 2 * kGraphs + 1; ++id) registerOnAll(ranks, id, kCount);
  struct Rank {
    std::vector<DeviceArray<int32_t>> buffers;
    std::vector<Stream> streams;
    std::vector<Graph> graphs;
    std::vector<int> order;
  };
  std::vector<Rank> each(static_cast<size_t>(ranks.size()));
  for (int r = 0; r < ranks.size(); ++r) {
    Rank& mine = each[static_cast<size_t>(r)];
    for (int g = 0; g <= kGraphs; ++g) {
      mine.buffers.emplace_back(ranks.device(r), kCount);
      giveFirstWork(mine.streams.emplace_back(ranks.device(r)), mine.buffers.back().data());
    }
    for (int g = 0; g < kGraphs; ++g) {
      mine.graphs.push_back(captureChain(ranks, r, {2 * g, 2 * g + 1}, mine.buffers[static_cast<size_t>(g)],
                                         mine.streams[static_cast<size_t>(g)]));
      mine.order.push_back(g);
    }
  }
  std::mt19937 random(5);
  const int rounds = kIsSimulated ? 15 : 1000;
  for (int round = 0; round < rounds; ++round) {
    for (int r = 0; r < ranks.size(); ++r) {
      for (int g = 0; g <= kGraphs; ++g) {
        each[static_cast<size_t>(r)].buffers[static_cast<size_t>(g)].set(Values(kCount, round * 10 + r * (g + 1)));
      }
    }
    for (int r = 0; r < ranks.size(); ++r) {
      Rank& mine = each[static_cast<size_t>(r)];
      std::shuffle(mine.order.begin(), mine.order.end(), random);
      const DeviceArray<int32_t>& own = mine.buffers[kGraphs];
      const Stream& stream = mine.streams[kGraphs];
      // One of an id that the graphs have too, and one that they haven't.
      for (const int id : {0, 2 * kGraphs}) {
        CHECK_OK(dfcclRunOnStream(own.data(), own.data(), id, stream, nullptr, nullptr, ranks[r]));
        CHECK_OK(dfcclWaitOnStream(id, stream, ranks[r]));
      }
      for (const int g : mine.order) mine.graphs[static_cast<size_t>(g)].launch(mine.streams[static_cast<size_t>(g)]);
    }
    for (int r = 0; r < ranks.size(); ++r) {
      Rank& mine = each[static_cast<size_t>(r)];
      for (int g = 0; g <= kGraphs; ++g) {
        REQUIRE(mine.streams[static_cast<size_t>(g)].synchronize());
        const Values got = mine.buffers[static_cast<size_t>(g)].get();
        CHECK(std::count(got.begin(), got.end(), round * 10 + (ranks.size() - 1) * (g + 1)) == kCount);
      }
    }
  }
}
