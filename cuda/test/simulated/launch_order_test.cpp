// Random batches, the same on all ranks but for the streams, the room for kernels, and how they are cut into batches:
// as kernels of LaunchOrder, in streams that carry out one kernel after the other, they all come to an end.
#include "host/world/launch_order.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

using dfccl::CollectiveId;
using dfccl::gpu::LaunchOrder;

namespace {

constexpr uint32_t kMostOfKernel = 5;

struct Call {
  uint32_t collective;
  uint64_t stream;
};
/// A run: of a collective, the n-th.
using RunOf = std::pair<uint32_t, uint32_t>;
using Kernel = std::vector<RunOf>;

/// A rank's streams, each with kernels that it carries out one after the other.
struct ModelRank {
  std::map<uint64_t, std::vector<Kernel>> streams;
  std::map<uint32_t, uint32_t> launched;
  std::map<RunOf, uint64_t> streamOf;
  std::map<RunOf, bool> isOver;

  /// @param isCommon the ranks have one order of collectives
  void launch(const std::vector<Call>& batch, uint32_t room, bool isCommon) {
    std::vector<LaunchOrder::Entry> entries;
    for (const Call& call : batch) {
      const uint32_t key = isCommon ? call.collective : ~call.collective;
      entries.push_back({this + call.collective + 1, CollectiveId(key), 0, call.stream});
    }
    LaunchOrder order(std::move(entries), kMostOfKernel);
    size_t taken = 0;
    while (order.hasNext()) {
      const LaunchOrder::Next next = order.next();
      CHECK(next.fewest == 1);
      Kernel kernel;
      for (const uint32_t i : order.take(std::max(next.fewest, std::min(next.wanted, room)))) {
        CHECK(batch[i].stream == batch[next.run].stream);
        const RunOf run{batch[i].collective, launched[batch[i].collective]++};
        streamOf[run] = batch[i].stream;
        kernel.push_back(run);
      }
      taken += kernel.size();
      CHECK(kernel.size() <= kMostOfKernel);
      streams[batch[next.run].stream].push_back(kernel);
    }
    CHECK(taken == batch.size());
  }

  /// What is under way: of each stream's first kernel, unless it has to wait for another stream, the next run of each
  /// member.
  std::vector<RunOf> underWay() const {
    std::vector<RunOf> runs;
    for (const auto& [stream, kernels] : streams) {
      if (kernels.empty()) continue;
      const bool waits = std::any_of(kernels.front().begin(), kernels.front().end(), [&](const RunOf& run) {
        const RunOf before{run.first, run.second - 1};
        return run.second != 0 && streamOf.at(before) != stream && !isOver.contains(before);
      });
      if (waits) continue;
      for (const RunOf& run : kernels.front()) {
        const bool isNext = run.second == 0 || isOver.contains({run.first, run.second - 1});
        if (isNext && !isOver.contains(run)) runs.push_back(run);
      }
    }
    return runs;
  }
  void end(const RunOf& run) {
    isOver[run] = true;
    for (auto& [stream, kernels] : streams) {
      while (!kernels.empty() && std::all_of(kernels.front().begin(), kernels.front().end(),
                                             [&](const RunOf& one) { return isOver.contains(one); })) {
        kernels.erase(kernels.begin());
      }
    }
  }
};

struct Variant {
  bool haveOtherStreams, haveLittleRoom, haveOtherOrders;
};

/// @return whether all of a random program ended. @param isCommon see ModelRank
bool ends(unsigned seed, const Variant& variant, bool isCommon) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t most) { return static_cast<uint32_t>(random() % most); };
  constexpr uint32_t kRanks = 3;
  std::vector<ModelRank> ranks(kRanks);
  size_t runs = 0;
  for (uint32_t batches = 1 + below(2); batches != 0; --batches) {
    std::vector<Call> calls;
    for (uint32_t i = 1 + below(9); i != 0; --i) calls.push_back({below(3), below(3)});
    runs += calls.size();
    for (uint32_t r = 0; r < kRanks; ++r) {
      std::vector<Call> mine = calls;
      if (variant.haveOtherStreams) {
        for (Call& call : mine) call.stream = below(1 + r);
      }
      // A batch's calls of different collectives may have any order.
      if (variant.haveOtherOrders) std::shuffle(mine.begin(), mine.end(), random);
      ranks[r].launch(mine, variant.haveLittleRoom ? 1 + below(2) : kMostOfKernel, isCommon || r == 0);
    }
  }
  size_t over = 0;
  for (bool isStuck = false; !isStuck;) {
    isStuck = true;
    for (const RunOf& run : ranks[0].underWay()) {
      const bool isEverywhere = std::all_of(ranks.begin(), ranks.end(), [&](const ModelRank& rank) {
        const std::vector<RunOf> there = rank.underWay();
        return std::find(there.begin(), there.end(), run) != there.end();
      });
      if (!isEverywhere) continue;
      for (ModelRank& rank : ranks) rank.end(run);
      ++over;
      isStuck = false;
    }
  }
  return over == runs;
}

constexpr unsigned kPrograms = 3000;

}  // namespace

TEST_CASE("batches that are alike end, whatever streams each rank has, and room, and order of calls") {
  for (const bool haveOtherStreams : {false, true}) {
    for (const bool haveLittleRoom : {false, true}) {
      for (const bool haveOtherOrders : {false, true}) {
        INFO(haveOtherStreams, haveLittleRoom, haveOtherOrders);
        unsigned stuck = 0;
        for (unsigned seed = 0; seed < kPrograms; ++seed) {
          stuck += !ends(seed, {haveOtherStreams, haveLittleRoom, haveOtherOrders}, true);
        }
        CHECK(stuck == 0);
      }
    }
  }
}

TEST_CASE("control: where ranks have no order in common, some of them don't") {
  unsigned stuck = 0;
  for (unsigned seed = 0; seed < kPrograms; ++seed) stuck += !ends(seed, {true, true, false}, false);
  CHECK(stuck != 0);
}
