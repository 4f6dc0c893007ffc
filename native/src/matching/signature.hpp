#pragma once
// What makes runs of several ranks one where nobody has given them an id: all that the ranks have to agree on.
#include <cstdint>
#include <span>

#include "world/collective_id.hpp"
#include "world/collective_spec.hpp"
#include "world/graph_numbers.hpp"
#include "world/signature_facts.hpp"

namespace dfccl {

/// A group is its ranks, a name of the caller's, and how many of the same ranks and name a rank has made before: 128
/// bits of it, which every member computes by itself.
struct GroupId {
  uint64_t high = 0, low = 0;

  static GroupId of(std::span<const uint32_t> ranks, uint64_t name, uint64_t ordinal);
  /// The name of a part of this group, by the split and the colour that it comes of.
  uint64_t nameOfPart(uint64_t split, uint32_t colour) const;
};

struct Signature {
  GroupId group;
  Purpose purpose = Purpose::collective;
  Collective collective = Collective::allReduce;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  uint32_t root = 0;      // place in the group: of the root, or the sender
  uint32_t receiver = 0;  // place in the group, of a send
  uint64_t count = 0;     // as CollectiveSpec has it
  uint64_t tag = 0;
  uint64_t countsHash = 0;  // of an uneven collective whose members all know all counts
  uint32_t graph = 0;       // whose run it is, see GraphNumbers: such runs match each other only; 0: no graph's

  bool isCaptured() const { return graph != 0; }
  bool isOfGraphs() const { return isCaptured() && graph != GraphNumbers::ofStreams(); }
  bool operator==(const Signature& other) const = default;
};
inline bool operator==(const GroupId& a, const GroupId& b) { return a.high == b.high && a.low == b.low; }

/// Of each member's count, what the parts of an uneven collective match by: two whose members agree on one count alone
/// would exchange that segment otherwise. 53 bits, which a number of JavaScript holds: signature.ts computes the same.
uint64_t hashOfCounts(std::span<const uint64_t> counts);

/// The same on every rank for equal signatures. Of n different ones two are taken for the same with a probability of
/// about n * n / 2^129.
CollectiveId idOf(const Signature& signature);

}  // namespace dfccl
