#pragma once
// Which built-in program a collective gets, how what it sends is packed, and on how many blocks: a pure function of
// what all ranks agree on, as all of them must choose alike. Programs that callers bring are theirs; JavaScript chooses
// for ranks on CPUs by packages/primitives/src/selection-table.ts, which can be tuned, and brings what it has chosen.
#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "daemon/framing/protocols.hpp"
#include "world/collective_spec.hpp"
#include "world/world_options.hpp"

namespace dfccl {

enum class ProgramKind {
  direct,     // ranks read and write each other's buffers
  large,      // so too, in an order for buffers so large that only the links count
  exchange,   // every rank sends all it has to every other at once
  connected,  // through slots, which are there before any buffer is
};

struct Selection {
  ProgramKind kind = ProgramKind::direct;
  // LL: every word carries its flag (daemon/framing). No built-in program is packed by LL128, which takes a caller's.
  Protocol protocol = Protocol::simple;
  uint32_t lanes = 1;  // blocks of each rank that share the work

  friend bool operator==(const Selection&, const Selection&) = default;
};

struct SelectionFacts {
  BackendKind backend = BackendKind::cpu;
  Collective collective = Collective::allReduce;
  uint64_t bytes = 0;  // of a rank's smaller buffer
  uint32_t ranks = 1;
  bool spansHosts = false;  // the ranks are on several machines
  bool isCaptured = false;  // graphs carry it out
  bool mapsLate = false;    // buffers are other processes', and out of reach until those have mapped them
  uint32_t grid = 1;        // blocks that a rank has on a GPU
};

/// The first rule that fits decides.
Selection select(const SelectionFacts& facts);
/// Blocks that it has on GPUs, within one process.
uint32_t lanesOnGpus(Collective collective, uint64_t bytes, uint32_t ranks, uint32_t grid);
/// The way of a run on GPUs until all ranks have mapped its buffers. @param bytes as above
Selection selectUntilMapped(uint64_t bytes);

/// One rank's program. @param hostOf [member]: its machine; asked for where the program is connected.
std::vector<uint8_t> buildSelected(const Selection& selection, const CollectiveSpec& spec, uint32_t member,
                                   const std::vector<uint32_t>& hostOf);

}  // namespace dfccl
