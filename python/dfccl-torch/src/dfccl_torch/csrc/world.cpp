#include "world.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "error.hpp"
#include "known_names.hpp"
#include "outstanding.hpp"
#include "per_process.hpp"

namespace dfccl_torch {
namespace {

struct Known {
  std::mutex mutex;
  std::vector<const World*> all;
};
PerProcess<Known> known;

constexpr std::chrono::milliseconds kMeetingTime(120'000);

uint32_t millisOf(std::chrono::milliseconds timeout) {
  constexpr auto kMost = static_cast<int64_t>(std::numeric_limits<uint32_t>::max());
  return static_cast<uint32_t>(std::clamp<int64_t>(timeout.count(), 1, kMost));
}

/// An aborted run's buffers may be in use by others for a moment yet, and nothing is gained by holding up the program.
void destroyWhenUnused(dfcclWorld_t world, dfcclRankCtx_t ctx) {
  constexpr auto kPause = std::chrono::milliseconds(10);
  constexpr int kAttempts = 500;  // then the process keeps it, 5 s being more than any abort has taken
  for (int i = 0; i < kAttempts && dfcclDestroy(ctx) == dfcclInUse; ++i) std::this_thread::sleep_for(kPause);
  dfcclWorldDestroy(world);
}

}  // namespace

World::World(const std::string& job, int rank, int ranks, const std::vector<int>& devices,
             std::chrono::milliseconds timeout, const Meeting& meeting, c10d::Store& store)
    : process_(getpid()) {
  dfcclJoinConfig_t config = DFCCL_JOIN_CONFIG_INIT;
  config.world.ranks = static_cast<uint32_t>(ranks);
  if (!devices.empty()) {
    config.world.backend = dfcclCuda;
    config.world.devices = devices.data();
  }
  config.job = job.c_str();
  config.rank = rank;
  // Between machines all have come by now, so who isn't heard can't be reached.
  config.timeoutMillis = millisOf(meeting.isOfSeveral() ? std::min(timeout, kMeetingTime) : timeout);
  std::optional<OwnPort> port;
  std::string address;
  if (meeting.isOfSeveral()) {
    if (rank == 0) port.emplace();
    address = addressOf(meeting, port ? &*port : nullptr, store, job, timeout);
    config.address = address.c_str();
    config.secret = meeting.secret.c_str();
    config.host = meeting.machine.c_str();
  }
  check(dfcclJoinWorld(&config, &world_, nullptr),
        devices.empty() ? "joining the other ranks" : "joining the other ranks' GPUs");
  const dfcclResult_t opened = dfcclInitRank(world_, rank, &ctx_);
  if (opened != dfcclSuccess) {
    const std::string reason = lastWords();
    dfcclWorldDestroy(world_);
    refuse("rank " + std::to_string(rank) + " can't be opened: " + reason, "");
  }
  Known& here = known.get();
  const std::lock_guard lock(here.mutex);
  here.all.push_back(this);
}

World::~World() {
  if (process_ != getpid()) return;  // the parent's, seen by a forked child
  {
    Known& here = known.get();
    const std::lock_guard lock(here.mutex);
    here.all.erase(std::remove(here.all.begin(), here.all.end(), this), here.all.end());
  }
  if (dfcclDestroy(ctx_) == dfcclInUse) {
    std::thread(destroyWhenUnused, world_, ctx_).detach();
  } else {
    dfcclWorldDestroy(world_);
  }
}

std::vector<int> World::lostRanks() const {
  int ranks = 0;
  check(dfcclGetRankCount(&ranks, ctx_), "counting ranks");
  std::vector<int> lost(static_cast<size_t>(ranks));
  int count = 0;
  check(dfcclGetLostRanks(lost.data(), ranks, &count, ctx_), "looking for lost ranks");
  lost.resize(static_cast<size_t>(std::min(count, ranks)));
  return lost;
}

std::string World::describe() const {
  std::string text(64 << 10, '\0');
  check(dfcclDescribe(text.data(), text.size(), ctx_), "describing this rank");
  text.resize(text.find('\0'));
  return withNames(text);
}

std::string describeWorlds() {
  Known& here = known.get();
  const std::lock_guard lock(here.mutex);
  std::string text;
  for (const World* world : here.all) text += world->describe();
  const std::string issued = describeOutstanding();
  return issued.empty() ? text : text + "\n" + issued;
}

}  // namespace dfccl_torch
