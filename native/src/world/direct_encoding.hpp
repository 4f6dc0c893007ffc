#pragma once
// Direct programs as lists of steps, and their binary form: what the built-in ones have in common.
#include <cstdint>
#include <functional>
#include <vector>

#include "base/program.hpp"
#include "daemon/framing/protocols.hpp"
#include "world/collective_spec.hpp"

namespace dfccl::direct {

struct Ref {
  uint32_t rank;
  BufferKind buffer;
  uint32_t chunk;
};

/// A multiReduceCopy.
struct Step {
  std::vector<Ref> sources, destinations;
  bool finishes = false;  // its values are complete: avg divides
};

struct Facts {
  uint32_t chunksPerSegment = 1;
  uint32_t inputSegments = 1;
  uint32_t outputSegments = 1;
  uint32_t flags = kInPlace | kUsesDirect | kOutOfPlace;
  Protocol protocol = Protocol::simple;
  std::function<std::vector<Step>(uint32_t rank)> steps;
};

inline constexpr auto kInput = BufferKind::input;
inline constexpr auto kOutput = BufferKind::output;

/// `rank(i)`'s chunk for every rank i.
std::vector<Ref> ofEvery(uint32_t ranks, BufferKind buffer, uint32_t chunk);

/// One rank's program, with the digest of all ranks'. The steps are those of each of `lanes` blocks, every chunk cut
/// into as many.
std::vector<uint8_t> encodeFor(Collective collective, const Facts& facts, uint32_t rankCount, uint32_t rank,
                               uint32_t root, uint32_t lanes);

/// The same without the digest, for a program that no other rank's is compared with.
std::vector<uint8_t> encodeUndigested(Collective collective, const Facts& facts, uint32_t rankCount, uint32_t rank,
                                      uint32_t root);

}  // namespace dfccl::direct
