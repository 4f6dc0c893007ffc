#pragma once
// Which block of a daemon has which program block of a run.
#include <cstdint>

#include "base/host_device.hpp"

namespace dfccl {

/// The first of a run's program blocks that is a block's; its others follow in steps of the grid. None where that is
/// no program block. From `firstBlock` 0 on, program blocks and blocks correspond. From another one on, the leader's
/// block has none of them where the others are enough, and the others take turns in being the first, which has the most
/// to do.
DFCCL_HD constexpr uint32_t firstPartOf(uint32_t index, uint32_t grid, uint32_t firstBlock, uint32_t blockCount) {
  if (firstBlock == 0) return index;
  if (blockCount >= grid) return index >= firstBlock ? index - firstBlock : index + grid - firstBlock;
  if (index == 0) return blockCount;
  return index >= firstBlock ? index - firstBlock : index + grid - 1 - firstBlock;
}

/// Where the first program block of a run is that doesn't come alone; 0 where the leader's block has to take part.
DFCCL_HD constexpr uint32_t firstBlockOf(uint32_t collective, uint32_t grid, uint32_t blockCount) {
  return blockCount < grid ? 1 + collective % (grid - 1) : 0;
}

}  // namespace dfccl
