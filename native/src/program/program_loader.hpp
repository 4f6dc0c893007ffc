#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "daemon/state/bound_program.hpp"

namespace dfccl {

/// Sizes that every rank of a world agrees on; they decide how a program is cut into tiles.
struct TileSizes {
  uint64_t slotPayloadBytes = 32 << 10;        // most that one slot of a connector carries
  uint64_t framedPayloadBytes = ~uint64_t{0};  // ... of the protocols that pack it, from memory that may be bounded
  uint64_t directTileBytes = 64 << 10;         // slice of a program that moves data without slots
  uint64_t directTurnBytes = ~uint64_t{0};     // ... at most, where a block does several things by turns
};

/// Checks one rank's program byte by byte (it may come from anywhere) and binds it to a count and a type. What needs
/// all ranks at once (cycles, slots, races, the postcondition) is the verifier's, in packages/primitives.
/// @throws Error dfcclInvalidProgram with the offset and what was expected.
std::shared_ptr<const BoundProgram> loadProgram(std::span<const uint8_t> bytes, DataType type, uint64_t count,
                                                const TileSizes& sizes);

}  // namespace dfccl
