// The trace of a burst as a file for ui.perfetto.dev.
#include "trace/chrome_trace.hpp"

#include <cstdio>
#include <numeric>
#include <random>

#include "bench/all_reduces.hpp"

namespace dfccl::gpu::bench {

/// --list, --rounds; --out FILE
int runTrace(const Arguments& arguments) {
  Bed bed(arguments);
  AllReduces all(bed, elementCountsOf(arguments.text("--list", "resnet50")));
  const auto collectives = static_cast<uint32_t>(all.counts.size());
  const uint64_t rounds = arguments.number("--rounds", 2);
  bed.onEveryRank([&](uint32_t rank) {
    for (uint64_t round = 0; round < rounds; ++round) {
      std::vector<uint32_t> order(collectives), slots;
      std::iota(order.begin(), order.end(), 0u);
      std::shuffle(order.begin(), order.end(), std::mt19937_64(round * 64 + rank));
      for (const uint32_t c : order) slots.push_back(all.submit(bed, rank, c));
      for (const uint32_t slot : slots) bed.await(rank, slot);
    }
  });
  std::vector<TraceTrack> tracks;
  for (uint32_t r = 0; r < bed.ranks(); ++r) {
    bed.world().rank(r).leave();
    for (TraceTrack& track : bed.world().readTrace(r)) tracks.push_back(std::move(track));
  }
  const std::string path = arguments.text("--out", "trace.json");
  const std::string json = chromeTrace(tracks);
  std::FILE* const file = std::fopen(path.c_str(), "w");
  const bool isWritten = file != nullptr && std::fwrite(json.data(), 1, json.size(), file) == json.size();
  if (file != nullptr) std::fclose(file);
  std::printf("{\"bench\":\"trace\",\"file\":\"%s\",\"bytes\":%zu,\"tracks\":%zu,\"written\":%s}\n", path.c_str(),
              json.size(), tracks.size(), isWritten ? "true" : "false");
  return isWritten ? 0 : 2;
}

}  // namespace dfccl::gpu::bench
