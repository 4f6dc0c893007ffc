#include "world/world_options.hpp"

#include <string>

#include "base/error.hpp"

namespace dfccl {
namespace {

constexpr uint64_t kMostTileBytes = uint64_t{1} << 40;

}  // namespace

void checkOptions(const WorldOptions& o) {
  const auto refuse = [](const std::string& field, uint64_t value, const std::string& allowed) {
    throw Error(dfcclInvalidArgument, "World option " + field + " is " + std::to_string(value) + ".",
                "Allowed: " + allowed + ".", {{"field", field}, {"value", std::to_string(value)}});
  };
  if (o.ranks == 0 || o.ranks > 1024) refuse("ranks", o.ranks, "1 to 1024");
  if (o.limits.grid == 0 || o.limits.grid > 65) refuse("grid", o.limits.grid, "1 to 65");
  if (!SubmissionRing::isValidCapacity(o.limits.submissionSlots))
    refuse("submissionSlots", o.limits.submissionSlots, "powers of two up to 32768");
  if (!CompletionOwnedSlots<>::isValidSlotCount(o.limits.completionSlots) || o.limits.completionSlots > (1u << 20)) {
    refuse("completionSlots", o.limits.completionSlots, "powers of two from 8 to 1048576");
  }
  if (o.limits.collectives == 0 || o.limits.collectives > (1u << 20))
    refuse("collectives", o.limits.collectives, "1 to 1048576");
  if (o.limits.tasks < o.limits.collectives) refuse("programBlocks", o.limits.tasks, "at least as many as collectives");
  if (o.limits.tasks > (1u << 24)) refuse("programBlocks", o.limits.tasks, "up to 16777216");
  // So that none of them wraps where it is rounded up, or multiplied by a number of slots.
  if (o.tiles.slotPayloadBytes == 0 || o.tiles.slotPayloadBytes > kMostTileBytes)
    refuse("slotPayloadBytes", o.tiles.slotPayloadBytes, "1 to " + std::to_string(kMostTileBytes));
  if (o.tiles.directTileBytes == 0 || o.tiles.directTileBytes > kMostTileBytes)
    refuse("directTileBytes", o.tiles.directTileBytes, "1 to " + std::to_string(kMostTileBytes));
  if (o.workers > 256) refuse("workers", o.workers, "0 to 256");
  if (o.segment && o.policy.streams != 0) refuse("policy streams", o.policy.streams, "0, where ranks are processes");
  if (!scheduling::isValid(o.policy)) refuse("policy version", o.policy.version, "a policy made by @dfccl/scheduler");
  // Before anything is added to it; what there really is, the system knows.
  if (o.arenaBytes > (uint64_t{1} << 60)) {
    throw Error(dfcclOutOfMemory, "No system has " + std::to_string(o.arenaBytes) + " bytes for connectors.",
                "Open the world with a smaller arenaBytes.", {{"bytes", std::to_string(o.arenaBytes)}});
  }
}

}  // namespace dfccl
