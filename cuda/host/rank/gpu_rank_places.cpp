// A rank's numbers for collectives and tasks: given out, and made fit for others once they are given back.
#include "host/rank/gpu_rank.hpp"

namespace dfccl::gpu {
namespace {

// Places that were given back, from which on blocks are told to forget them.
constexpr size_t kRecycledAtOnce = 64;

}  // namespace

IndexTable::Entry GpuRank::takePlace(uint32_t blockCount) {
  std::optional<IndexTable::Entry> place = places_.take(blockCount);
  if (!place || places_.retiredCount() >= kRecycledAtOnce) {
    // A block keeps at hand what it has looked up of a collective, and which are aborted: it is told to forget that
    // before it hears of the place's next one. Where it had no part it has nothing of it.
    places_.recycle([this](const IndexTable::Entry& retired) {
      if (retired.blockCount != 0) requests_.forget(retired);
    });
    if (!place) place = places_.take(blockCount);
  }
  if (place) return *place;
  throw Error(dfcclOutOfMemory,
              "Rank " + std::to_string(number_) + " holds as many collectives as its tables allow (" +
                  std::to_string(limits().collectives) + " collectives, " + std::to_string(limits().tasks) +
                  " program blocks).",
              "Unregister collectives that are done, or open the world with larger limits.",
              {{"rank", std::to_string(number_)},
               {"collectives", std::to_string(limits().collectives)},
               {"tasks", std::to_string(limits().tasks)}});
}

}  // namespace dfccl::gpu
