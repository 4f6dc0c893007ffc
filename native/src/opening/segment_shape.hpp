#pragma once
#include <cstring>

#include "dfccl/dfccl.h"
#include "processes/segment.hpp"
#include "world/world_options.hpp"

namespace dfccl {

/// What a world's processes must have in common, as their options have it.
inline SegmentShape shapeOf(const WorldOptions& options) {
  SegmentShape shape{};
  std::strncpy(shape.version, dfcclVersion(), sizeof shape.version - 1);
  shape.backend = static_cast<uint32_t>(options.backend);
  shape.ranks = options.ranks;
  shape.grid = options.limits.grid;
  shape.collectives = options.limits.collectives;
  shape.tasks = options.limits.tasks;
  shape.slotPayloadBytes = options.tiles.slotPayloadBytes;
  shape.directTileBytes = options.tiles.directTileBytes;
  shape.arenaBytes = options.arenaBytes;
  return shape;
}

}  // namespace dfccl
