#include "cpu/connector_pool.hpp"

#include <cstring>
#include <new>

namespace dfccl {

Connector ConnectorPool::lease(uint32_t slotCount, uint32_t slotBytes) {
  std::vector<Connector>& idle = idle_[{slotCount, slotBytes}];
  ++leased_;
  if (!idle.empty()) {
    const Connector connector = idle.back();
    idle.pop_back();
    std::memset(connector.slots, 0, size_t{slotCount} * slotBytes);
    return connector;
  }
  uint8_t* memory = arena_.allocate(sizeof(ConnectorMemory) + size_t{slotCount} * slotBytes);
  ++made_;
  auto* counters = new (memory) ConnectorMemory{};
  return {counters, memory + sizeof(ConnectorMemory), slotCount, slotBytes, counters};
}

void ConnectorPool::giveBack(const Connector& connector) {
  // A Simple sender's tail and an LL receiver's head agree once everything sent was received; an aborted run leaves
  // them apart, and the next owner must not take its leftovers for new data.
  const uint64_t sent = connector.sendPosition();
  connector.memory->head.store(sent, order::relaxed);
  idle_[{connector.slotCount, connector.slotBytes}].push_back(connector);
  --leased_;
}

}  // namespace dfccl
