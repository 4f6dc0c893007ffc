#pragma once
// Which built-in program a collective gets on a GPU, and on how many blocks: a pure function of what all ranks agree
// on.
#include <cstddef>
#include <cstdint>

#include "base/types.hpp"

namespace dfccl::gpu {

/// Whether every rank sends everything to every other at once: small all-reduces.
/// @param bytes of a rank's smaller buffer, here and below.
bool isExchanged(Collective collective, size_t bytes, uint32_t ranks);

/// Whether it has a program for large buffers, and that is the faster one.
bool isLarge(Collective collective, size_t bytes, uint32_t ranks);

/// Blocks that the program uses.
uint32_t lanesFor(Collective collective, size_t bytes, uint32_t ranks, uint32_t grid);

}  // namespace dfccl::gpu
