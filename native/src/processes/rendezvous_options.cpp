#include "processes/rendezvous_options.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <tuple>

#include "base/error.hpp"
#include "world/world_options.hpp"

namespace dfccl {

std::vector<uint32_t> RendezvousOptions::everybody() const {
  if (!members.empty()) return members;
  std::vector<uint32_t> all(shape.ranks);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

namespace rendezvous {

int millisUntil(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1'000'000));
}

std::string secondsOf(const RendezvousOptions& options) {
  return std::to_string(options.timeoutMillis / 1000.0).substr(0, 5) + " s";
}

void checkCancelled(const RendezvousOptions& options) {
  if (options.isCancelled == nullptr || options.isCancelled->load(order::relaxed) == 0) return;
  throw Error(dfcclAborted, "The meeting of job \"" + options.job + "\" was given up.", "Join again.",
              {{"job", options.job}});
}

void refuseSystem(const std::string& what) {
  throw Error(dfcclSystemError, what + ": " + std::strerror(errno) + ".", "See what limits this process (ulimit -n).",
              {{"errno", std::to_string(errno)}});
}

void throwRefused(dfcclResult_t status, const std::string& text, const std::vector<uint32_t>& ranks) {
  std::string list;
  for (const uint32_t rank : ranks) list += (list.empty() ? "" : ",") + std::to_string(rank);
  Error::Facts facts;
  if (!list.empty()) facts.emplace_back(status == dfcclTimeout ? "missing" : "claimed", list);
  throw Error(status, text,
              status == dfcclTimeout ? "See why those processes didn't start, or allow more time (DFCCL_JOIN_TIMEOUT)."
              : status == dfcclInUse
                  ? "Give every process a rank of its own, and each job a name of its own (DFCCL_JOB)."
              : status == dfcclRegistrationMismatch ? "Start all processes with the same version and the same options."
                                                    : "See what that process says.",
              std::move(facts));
}

std::string difference(const SegmentShape& own, uint32_t leader, const SegmentShape& other, uint32_t rank) {
  const auto say = [&](const char* what, const std::string& theirs, const std::string& mine) {
    return std::string(what) + " is " + theirs + " on rank " + std::to_string(rank) + " and " + mine + " on rank " +
           std::to_string(leader) + ".";
  };
  const auto text = [](const char(&version)[32]) { return std::string(version, strnlen(version, sizeof version)); };
  if (text(own.version) != text(other.version)) return say("The library", text(other.version), text(own.version));
  if (own.backend != other.backend) {
    const auto name = [](uint32_t backend) {
      return backend == static_cast<uint32_t>(BackendKind::cpu) ? "cpu" : "cuda";
    };
    return say("The backend", name(other.backend), name(own.backend));
  }
  const auto number = [&](const char* what, uint64_t mine, uint64_t theirs) {
    return mine == theirs ? std::string() : say(what, std::to_string(theirs), std::to_string(mine));
  };
  std::string found;
  for (const auto& [what, mine, theirs] :
       {std::tuple{"The number of ranks", uint64_t{own.ranks}, uint64_t{other.ranks}},
        {"blocks (of a daemon)", own.grid, other.grid},
        {"maxCollectives", own.collectives, other.collectives},
        {"maxTasks", own.tasks, other.tasks},
        {"slotPayloadBytes", own.slotPayloadBytes, other.slotPayloadBytes},
        {"directTileBytes", own.directTileBytes, other.directTileBytes},
        {"arenaBytes", own.arenaBytes, other.arenaBytes}}) {
    if (found.empty()) found = number(what, mine, theirs);
  }
  return found;
}

std::string missing(const RendezvousOptions& options, const std::vector<uint32_t>& ranks) {
  constexpr size_t kNamed = 16;
  std::string list;
  for (size_t i = 0; i < std::min(ranks.size(), kNamed); ++i) list += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  if (ranks.size() > kNamed) list += " and " + std::to_string(ranks.size() - kNamed) + " more";
  return (ranks.size() == 1 ? "Rank " : "Ranks ") + list + " of " + std::to_string(options.shape.ranks) +
         " did not come to job \"" + options.job + "\" within " + secondsOf(options) + ".";
}

}  // namespace rendezvous
}  // namespace dfccl
