// Launches that are under way at once, on streams of their own, of graphs that have runs of the same collective.
#include <algorithm>
#include <memory>
#include <string>

#include "graphs.hpp"
#include "word.hpp"

using namespace dfccl::gpu::test;

namespace {

constexpr int kId = 0;

/// A rank's graphs, each with a buffer and a stream of its own.
struct Mine {
  std::vector<DeviceArray<int32_t>> buffers;
  std::vector<Stream> streams;
  std::vector<Graph> graphs;
};

/// What graph `g` has of rank `r` in a round.
int32_t valueOf(int round, int g, int r) { return round * 1000 + (g + 1) * 10 + r; }

/// Lets all ranks launch their graphs in the same order, and on some the first of them comes to its turn last.
void launchInRounds(const GpuRanks& ranks, std::vector<Mine>& each, size_t count) {
  const int graphs = static_cast<int>(each[0].graphs.size());
  for (int round = 0; round < (kIsSimulated ? 10 : 200); ++round) {
    std::vector<std::unique_ptr<Word>> words;
    for (int r = 0; r < ranks.size(); ++r) {
      Mine& mine = each[static_cast<size_t>(r)];
      for (int g = 0; g < graphs; ++g) {
        mine.buffers[static_cast<size_t>(g)].set(Values(count, valueOf(round, g, r)));
      }
      cudaSetDevice(ranks.device(r));
      for (int i = 0; i < graphs; ++i) {
        const auto g = static_cast<size_t>((round + i) % graphs);
        if (i == 0 && (r + round) % 2 == 0) words.emplace_back(std::make_unique<Word>())->letWait(mine.streams[g]);
        mine.graphs[g].launch(mine.streams[g]);
      }
    }
    for (const auto& word : words) word->open();
    for (int r = 0; r < ranks.size(); ++r) {
      for (int g = 0; g < graphs; ++g) {
        INFO("round ", round, ", rank ", r, ", graph ", g, " of ", count);
        REQUIRE(each[static_cast<size_t>(r)].streams[static_cast<size_t>(g)].synchronize());
        const Values got = each[static_cast<size_t>(r)].buffers[static_cast<size_t>(g)].get();
        CHECK(std::count(got.begin(), got.end(), valueOf(round, g, ranks.size() - 1)) == static_cast<int>(count));
      }
    }
  }
}

std::vector<Mine> prepared(const GpuRanks& ranks, int graphs, size_t count) {
  std::vector<Mine> each(static_cast<size_t>(ranks.size()));
  for (int r = 0; r < ranks.size(); ++r) {
    Mine& mine = each[static_cast<size_t>(r)];
    for (int g = 0; g < graphs; ++g) {
      mine.buffers.emplace_back(ranks.device(r), count);
      giveFirstWork(mine.streams.emplace_back(ranks.device(r)), mine.buffers.back().data());
    }
  }
  return each;
}

}  // namespace

// One block carries a run of the fewer elements out, and several that of the more.
TEST_CASE("graphs with runs of the same collective are carried out in the order of their launches") {
  constexpr int kGraphs = 3;
  for (const size_t count : {size_t{1000}, size_t{20'000}}) {
    const GpuRanks ranks;
    registerOnAll(ranks, kId, count);
    std::vector<Mine> each = prepared(ranks, kGraphs, count);
    for (int r = 0; r < ranks.size(); ++r) {
      Mine& mine = each[static_cast<size_t>(r)];
      for (size_t g = 0; g < kGraphs; ++g) {
        mine.graphs.push_back(captureChain(ranks, r, {kId}, mine.buffers[g], mine.streams[g]));
      }
    }
    launchInRounds(ranks, each, count);
  }
}

TEST_CASE("what is made of one graph twice is carried out in the order of its launches") {
  constexpr size_t kCount = 20'000;
  const GpuRanks ranks;
  registerOnAll(ranks, kId, kCount);
  struct Twice {
    DeviceArray<int32_t> buffer;
    std::vector<Stream> streams;
    std::vector<Graph> graphs;
  };
  std::vector<Twice> each;
  for (int r = 0; r < ranks.size(); ++r) {
    Twice& mine = each.emplace_back(Twice{DeviceArray<int32_t>(ranks.device(r), kCount), {}, {}});
    for (int i = 0; i < 2; ++i) giveFirstWork(mine.streams.emplace_back(ranks.device(r)), mine.buffer.data());
    mine.graphs = Graph::twice(ranks.device(r), mine.streams[0], [&] {
      for (int i = 0; i < kChain; ++i) {
        CHECK_OK(
            dfcclRunOnStream(mine.buffer.data(), mine.buffer.data(), kId, mine.streams[0], nullptr, nullptr, ranks[r]));
        CHECK_OK(dfcclWaitOnStream(kId, mine.streams[0], ranks[r]));
      }
    });
  }
  for (int round = 0; round < (kIsSimulated ? 10 : 200); ++round) {
    for (int r = 0; r < ranks.size(); ++r) {
      Twice& mine = each[static_cast<size_t>(r)];
      mine.buffer.set(Values(kCount, valueOf(round, 0, r)));
      for (size_t i = 0; i < 2; ++i) mine.graphs[i].launch(mine.streams[i]);
    }
    for (int r = 0; r < ranks.size(); ++r) {
      for (const Stream& stream : each[static_cast<size_t>(r)].streams) REQUIRE(stream.synchronize());
      const Values got = each[static_cast<size_t>(r)].buffer.get();
      CHECK(std::count(got.begin(), got.end(), valueOf(round, 0, ranks.size() - 1)) == kCount);
    }
  }
}
