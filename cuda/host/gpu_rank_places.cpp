// A rank's numbers for collectives and tasks: given out, and made fit for others once they are given back.
#include "cpu/pause.hpp"
#include "host/gpu_rank.hpp"

namespace dfccl::gpu {
namespace {

// Places that were given back, from which on they are cleared whenever the daemon happens to be out.
constexpr size_t kRecycledAtOnce = 64;

}  // namespace

IndexTable::Place GpuRank::takePlace(uint32_t blockCount) {
  std::optional<IndexTable::Place> place = places_.take(blockCount);
  if (!place && places_.hasRetired()) {
    recyclePlaces();
    place = places_.take(blockCount);
  } else if (places_.retiredCount() >= kRecycledAtOnce) {
    tryRecycle();
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

// A block keeps at hand what it has looked up of a collective until its stay ends, and notes which are aborted for
// longer: so a place is given to another collective between two stays.
void GpuRank::recyclePlaces() {
  std::unique_lock keepsOut(launching_);
  leaveUnlessHeld();
  // A request to drop an index, not taken in yet, would find another collective there: one more stay, then.
  while (hasRequests() && !isLost()) {
    keepsOut.unlock();
    cpuPause();
    keepsOut.lock();
    leaveUnlessHeld();
  }
  recycleOut();
}

/// Where nobody has to be waited for.
bool GpuRank::tryRecycle() {
  const std::lock_guard keepsOut(launching_);
  if (memory_->residency.isResident() || hasRequests() || isLost()) return false;
  recycleOut();
  return true;
}

void GpuRank::leaveUnlessHeld() {
  while (memory_->residency.isResident() && !isLost()) {
    if (report_->isHeld.load(order::relaxed) != 0) {
      throw Error(dfcclOutOfMemory,
                  "Rank " + std::to_string(number_) +
                      " has no free place for a collective, and can't clear those that were unregistered: its daemon "
                      "stays for a stream that waits.",
                  "Register when no stream waits for a run, or open the world with larger limits.",
                  {{"rank", std::to_string(number_)}});
    }
    cpuPause();
  }
}

/// @pre The daemon is out, and launching_ keeps it there.
void GpuRank::recycleOut() {
  std::vector<KeptTasks> kept(limits().grid);
  arena_.read(kept.data(), arguments_.kept, kept.size() * sizeof(KeptTasks));
  places_.recycle([this, &kept](const IndexTable::Place& place) {
    for (uint32_t block = 0; block < limits().grid; ++block) {
      arena_.clear(arguments_.dropped + size_t{block} * kMostCollectives + place.index, 1);
      kept[block].forget(place.index, place.firstTask, place.blockCount);
    }
  });
  arena_.write(arguments_.kept, kept.data(), kept.size() * sizeof(KeptTasks));
}

}  // namespace dfccl::gpu
