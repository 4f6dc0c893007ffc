#pragma once
// The communicator pool (DFCCL, section 3.2): connectors are made as collectives need them and used again after both
// ranks have let go of them.
#include <cstdint>
#include <map>
#include <vector>

#include "cpu/arena.hpp"
#include "daemon/state/connector.hpp"

namespace dfccl {

class ConnectorPool {
 public:
  explicit ConnectorPool(Arena& arena) : arena_(arena) {}

  /// A connector nobody uses. Its counters go on from wherever a former owner left them; its slots are zero, so that
  /// nothing a former owner wrote can pass for a flag.
  /// @throws Error dfcclOutOfMemory.
  Connector lease(uint32_t slotCount, uint32_t slotBytes);
  /// @pre Both ends are done with it.
  void giveBack(const Connector& connector);

  uint64_t leased() const { return leased_; }
  uint64_t made() const { return made_; }

 private:
  Arena& arena_;
  // Only connectors of the same shape are exchanged. They never go back to the arena: the epoch belongs to the memory.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Connector>> idle_;
  uint64_t leased_ = 0;
  uint64_t made_ = 0;
};

}  // namespace dfccl
