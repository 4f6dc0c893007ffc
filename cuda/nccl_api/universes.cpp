#include "nccl_api/universes.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "nccl_api/failure.hpp"

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
std::optional<std::vector<int>> ranksIn(uint64_t id, const std::vector<Arrival>& all) {
  std::vector<int> ranks;
  for (const Arrival& one : all) {
    const Arrival::World* const world = worldOf(one, id);
    if (world == nullptr || world->rank < 0) return std::nullopt;
    ranks.push_back(world->rank);
  }
  return ranks;
}

/// The least that a rank asked for; 0: none has.
uint32_t blocksFor(const std::vector<Arrival>& all) {
  uint32_t least = 0;
  for (const Arrival& one : all) {
    if (one.mostBlocks != 0) least = least == 0 ? one.mostBlocks : std::min(least, one.mostBlocks);
  }
  return least;
}

}  // namespace

struct Universes::Tables {
  const uint64_t process = randomNumber();
  std::mutex mutex;
  std::vector<std::shared_ptr<Universe>> open;  // the one used last in front
  std::map<uint64_t, std::shared_ptr<Making>> making;
};

/// A world of this process's ranks, which whoever comes first makes for all.
struct Universes::Making {
  std::mutex mutex;
  std::shared_ptr<Universe> universe;
  size_t come = 0;  // under Tables::mutex
};

Universes::Universes() : tables_(new Tables) {}

Universes& Universes::here() {
  static std::mutex mutex;
  static pid_t owner = 0;
  static Universes* own = nullptr;
  const std::lock_guard lock(mutex);
  if (owner != getpid()) {
    own = new Universes;  // a parent's is of no use in its child
    owner = getpid();
  }
  return *own;
}

Universes::Told Universes::tell() {
  dropUnused();
  Told told{};
  told.arrival.process = tables_->process;
  const std::lock_guard lock(tables_->mutex);
  for (const std::shared_ptr<Universe>& universe : tables_->open) {
    if (told.held.size() == Arrival::kMostWorlds) break;
    told.arrival.worlds[told.held.size()] = {universe->id(), universe->ownRank()};
    told.held.push_back(universe);
  }
  told.arrival.worldCount = static_cast<uint32_t>(told.held.size());
  return told;
}

Placed Universes::place(const Name& name, const Told& told, const std::vector<Arrival>& all, int rank) {
  std::vector<uint64_t> processes;
  for (const Arrival& one : all) processes.push_back(one.process);
  std::sort(processes.begin(), processes.end());
  const bool areOne = processes.front() == processes.back();
  const bool areDistinct = std::adjacent_find(processes.begin(), processes.end()) == processes.end();
  if (!areOne && !areDistinct) {
    throw Failure(ncclInvalidUsage, "Some ranks of the communicator share a process, and others don't.",
                  "Let all ranks be threads of one process, or each be a process of its own.");
  }
  // A rank alone may be a group of either kind.
  Placed placed = areOne ? inProcess(name, told, all) : ofProcesses(name, told, all, rank);
  return placed;
}

Placed Universes::inProcess(const Name& name, const Told& told, const std::vector<Arrival>& all) {
  Placed best;
  for (const std::shared_ptr<Universe>& universe : told.held) {
    std::optional<std::vector<int>> ranks;
    if (std::any_of(all.begin(), all.end(), [&](const Arrival& one) { return !worldOf(one, universe->id()); }))
      continue;
    if (universe->ownRank() < 0) {
      ranks = ranksOn(universe->devices(), all);
    } else if (all.size() == 1) {
      int device = -1;
      check(dfcclGetDevice(&device, universe->context(universe->ownRank())));
      if (device == all.front().device) ranks = {universe->ownRank()};
    }
    const auto isBetter = [&] {
      if (!best.universe || universe->size() != best.universe->size())
        return !best.universe || universe->size() < best.universe->size();
      return universe->id() < best.universe->id();
    };
    if (ranks && isBetter()) best = {universe, *ranks};
  }
  if (best.universe) return best;
  std::shared_ptr<Universe> made = makeOnce(name, all);
  std::vector<int> ranks;
  for (int r = 0; r < made->size(); ++r) ranks.push_back(r);
  return {std::move(made), std::move(ranks)};
}

std::shared_ptr<Universe> Universes::makeOnce(const Name& name, const std::vector<Arrival>& all) {
  const uint64_t id = name.low;
  std::shared_ptr<Making> making;
  {
    const std::lock_guard lock(tables_->mutex);
    std::shared_ptr<Making>& entry = tables_->making[id];
    if (!entry) entry = std::make_shared<Making>();
    making = entry;
    if (++making->come == all.size()) tables_->making.erase(id);
  }
  const std::lock_guard lock(making->mutex);
  if (!making->universe) {
    std::vector<int> devices;
    for (const Arrival& one : all) devices.push_back(one.device);
    making->universe = Universe::inProcess(id, devices, blocksFor(all));
    add(making->universe);
  }
  return making->universe;
}

Placed Universes::ofProcesses(const Name& name, const Told& told, const std::vector<Arrival>& all, int rank) {
  Placed best;
  for (const std::shared_ptr<Universe>& universe : told.held) {
    const std::optional<std::vector<int>> ranks = ranksIn(universe->id(), all);
    const bool isBetter = !best.universe || universe->size() < best.universe->size() ||
                          (universe->size() == best.universe->size() && universe->id() < best.universe->id());
    if (ranks && isBetter) best = {universe, *ranks};
  }
  if (best.universe) return best;
  const auto size = static_cast<int>(all.size());
  best.universe = Universe::ofProcesses(name.low, size, rank, all[static_cast<size_t>(rank)].device, blocksFor(all));
  for (int r = 0; r < size; ++r) best.ranks.push_back(r);
  add(best.universe);
  return best;
}

void Universes::add(const std::shared_ptr<Universe>& universe) {
  const std::lock_guard lock(tables_->mutex);
  tables_->open.insert(tables_->open.begin(), universe);
}

/// Closes worlds that no communicator is in: what is more than is kept, and those that nobody can be in any more.
void Universes::dropUnused() {
  std::vector<std::shared_ptr<Universe>> dropped;
  {
    const std::lock_guard lock(tables_->mutex);
    size_t unused = 0;
    std::erase_if(tables_->open, [&](const std::shared_ptr<Universe>& universe) {
      if (universe.use_count() != 1) return false;
      if (++unused <= kMostUnused && !universe->isAnyoneGone()) return false;
      dropped.push_back(universe);
      return true;
    });
  }
  // Its memory is freed, for which CUDA may wait until others' work is over: the caller doesn't.
  if (!dropped.empty()) std::thread([dropped = std::move(dropped)]() mutable { dropped.clear(); }).detach();
}

}  // namespace dfccl::nccl
