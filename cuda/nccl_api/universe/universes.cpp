#include "nccl_api/universe/universes.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "host/driver/process_end.hpp"
#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {
namespace {

// Worlds without communicators that are kept for others to come.
constexpr size_t kMostUnused = 2;

uint64_t randomNumber() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<uint64_t>(getpid());
  return number;
}

/// Which ranks of a world the devices are, each a different one. @return nothing: it hasn't got them all.
std::optional<std::vector<int>> ranksOn(const std::vector<int>& worldDevices, const std::vector<Arrival>& all) {
  std::vector<int> ranks;
  for (const Arrival& one : all) {
    int r = 0;
    const auto isFree = [&] { return std::find(ranks.begin(), ranks.end(), r) == ranks.end(); };
    const auto size = static_cast<int>(worldDevices.size());
    while (r < size && !(worldDevices[static_cast<size_t>(r)] == one.device && isFree())) ++r;
    if (r == size) return std::nullopt;
    ranks.push_back(r);
  }
  return ranks;
}

const Arrival::World* worldOf(const Arrival& arrival, uint64_t id) {
  for (uint32_t i = 0; i < arrival.worldCount; ++i) {
    if (arrival.worlds[i].id == id) return &arrival.worlds[i];
  }
  return nullptr;
}

/// The ranks' places in a world of processes. @return nothing: not all are in it.
std::optional<std::vector<int>> ranksIn(const Universe& universe, const std::vector<Arrival>& all) {
  std::vector<int> ranks;
  for (const Arrival& one : all) {
    const Arrival::World* const world = worldOf(one, universe.id());
    if (world == nullptr || world->rank < 0) return std::nullopt;
    ranks.push_back(world->rank);
  }
  return ranks;
}

/// The same where all ranks are in this process. One that is alone may be in a world of either kind.
std::optional<std::vector<int>> ranksOfProcessIn(const Universe& universe, const std::vector<Arrival>& all) {
  // Each must have told of it, so that all find the same.
  if (std::any_of(all.begin(), all.end(), [&](const Arrival& one) { return !worldOf(one, universe.id()); }))
    return std::nullopt;
  if (universe.ownRank() < 0) return ranksOn(universe.devices(), all);
  if (all.size() != 1) return std::nullopt;
  return std::vector{universe.ownRank()};
}

/// The smaller one; all ranks choose the same.
bool isBetter(const Universe& one, const Universe* best) {
  return best == nullptr || std::pair(one.size(), one.id()) < std::pair(best->size(), best->id());
}

/// The least that a rank asked for; 0: none has.
uint32_t blocksFor(const std::vector<Arrival>& all) {
  uint32_t least = 0;
  for (const Arrival& one : all) {
    if (one.mostBlocks != 0) least = least == 0 ? one.mostBlocks : std::min(least, one.mostBlocks);
  }
  return least;
}

struct Processes {
  bool areOne, areDistinct;
};
Processes processesOf(const std::vector<Arrival>& all) {
  std::vector<uint64_t> processes;
  for (const Arrival& one : all) processes.push_back(one.process);
  std::sort(processes.begin(), processes.end());
  return {processes.front() == processes.back(),
          std::adjacent_find(processes.begin(), processes.end()) == processes.end()};
}

}  // namespace

Universes::Universes() : process_(randomNumber()) {}

Universes& Universes::here() {
  static Universes& kept = *new Universes;
  return kept;
}

Universes::Told Universes::tell(int device) {
  dropUnused();
  Told told{};
  told.arrival.process = process_;
  told.arrival.meetingPlace = meetingPlace();
  told.arrival.device = device;
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<Universe>& universe : open_) {
    if (told.held.size() == Arrival::kMostWorlds) break;
    if (universe->ownRank() >= 0 && universe->devices().front() != device) continue;
    told.arrival.worlds[told.held.size()] = {universe->id(), universe->ownRank()};
    told.held.push_back(universe);
  }
  told.arrival.worldCount = static_cast<uint32_t>(told.held.size());
  return told;
}

bool areOnOneMachine(const std::vector<Arrival>& all) {
  return std::all_of(all.begin(), all.end(),
                     [&](const Arrival& one) { return one.meetingPlace == all.front().meetingPlace; });
}

bool Universes::canServe(const std::vector<Arrival>& all) {
  if (!areOnOneMachine(all)) return false;
  const auto [areOne, areDistinct] = processesOf(all);
  return areOne || areDistinct;
}

Placed Universes::place(const Name& name, const Told& told, const std::vector<Arrival>& all, int rank) {
  if (!areOnOneMachine(all)) {
    throw Failure(ncclInvalidUsage, "The ranks of the communicator are on several machines.",
                  "Run all of them on one; or name NVIDIA's NCCL, which takes such communicators over, on all ranks "
                  "(DFCCL_REAL_NCCL).");
  }
  const auto [areOne, areDistinct] = processesOf(all);
  if (!areOne && !areDistinct) {
    throw Failure(ncclInvalidUsage, "Some ranks of the communicator share a process, and others don't.",
                  "Let all ranks be threads of one process, or each be a process of its own; or name an NCCL that "
                  "takes such communicators over, on all ranks (DFCCL_REAL_NCCL).");
  }
  Placed best;
  for (const std::shared_ptr<Universe>& universe : told.held) {
    std::optional<std::vector<int>> ranks = areOne ? ranksOfProcessIn(*universe, all) : ranksIn(*universe, all);
    if (ranks && isBetter(*universe, best.universe.get())) best = {universe, *std::move(ranks)};
  }
  if (best.universe) return best;
  best.universe = areOne ? makeOnce(name.low, all) : join(name.low, all, rank);
  best.isNew = true;
  best.ranks.resize(all.size());
  std::iota(best.ranks.begin(), best.ranks.end(), 0);
  return best;
}

std::shared_ptr<Universe> Universes::makeOnce(uint64_t id, const std::vector<Arrival>& all) {
  std::shared_ptr<Making> making;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Making>& entry = making_[id];
    if (!entry) entry = std::make_shared<Making>();
    making = entry;
    if (++making->come == all.size()) making_.erase(id);
  }
  const std::lock_guard lock(making->mutex);
  if (making->failure) std::rethrow_exception(making->failure);
  if (making->universe) return making->universe;
  std::vector<int> devices;
  for (const Arrival& one : all) devices.push_back(one.device);
  try {
    making->universe = Universe::inProcess(id, devices, blocksFor(all));
    add(making->universe);
  } catch (...) {
    making->failure = std::current_exception();
    throw;
  }
  return making->universe;
}

std::shared_ptr<Universe> Universes::join(uint64_t id, const std::vector<Arrival>& all, int rank) {
  const int device = all[static_cast<size_t>(rank)].device;
  std::shared_ptr<Universe> joined =
      Universe::ofProcesses(id, static_cast<int>(all.size()), rank, device, blocksFor(all));
  add(joined);
  return joined;
}

void Universes::add(const std::shared_ptr<Universe>& universe) {
  const std::lock_guard lock(mutex_);
  open_.insert(open_.begin(), universe);
}

/// Closes worlds that no communicator is in: what is more than is kept, and those that nobody can be in any more.
void Universes::dropUnused() {
  std::vector<std::shared_ptr<Universe>> dropped;
  {
    const std::lock_guard lock(mutex_);
    size_t unused = 0;
    std::erase_if(open_, [&](const std::shared_ptr<Universe>& universe) {
      if (universe.use_count() != 1) return false;
      if (!universe->isAnyoneGone() && ++unused <= kMostUnused) return false;
      dropped.push_back(universe);
      return true;
    });
  }
  if (dropped.empty()) return;
  // Its memory is freed, for which CUDA may wait until others' work is over: the caller doesn't.
  auto freeing = [dropped = std::move(dropped)]() mutable {
    const gpu::ProcessEnd::Call call;
    if (!call.isAllowed()) new auto(std::move(dropped));  // the process's end takes it, and CUDA must not be called
    dropped.clear();
  };
  try {
    std::thread(std::move(freeing)).detach();
  } catch (const std::system_error&) {
    // No thread is to be had: it was freed here.
  }
}

}  // namespace dfccl::nccl
