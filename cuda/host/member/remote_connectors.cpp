#include "host/member/remote_connectors.hpp"

#include <new>

namespace dfccl::gpu {
namespace {

size_t slotsOf(const Connector& connector) { return size_t{connector.slotCount} * connector.slotBytes; }

}  // namespace

RemoteConnectors::~RemoteConnectors() {
  for (const Connector& connector : connectors_) {
    if (connector.slots != nullptr) arena_->free(connector.slots, slotsOf(connector));
    if (connector.memory != nullptr)
      arena_->free(reinterpret_cast<uint8_t*>(connector.memory), sizeof(ConnectorMemory));
  }
}

void RemoteConnectors::take(const BoundProgram& program, uint32_t slotBytes) {
  connectors_.reserve(program.connections.size());
  for (const ConnectionRecord& c : program.connections) {
    Connector& connector = connectors_.emplace_back();
    if (!isElsewhere(c.peer)) continue;
    connector.slotCount = program.header.slotCount;
    connector.slotBytes = slotBytes;
    // Both counters are in the host's memory: what the proxy moves the daemon sees there, with a read over the bus.
    connector.memory = connector.theirs = new (arena_->allocate(sizeof(ConnectorMemory))) ConnectorMemory{};
    connector.slots = arena_->allocate(slotsOf(connector));
  }
}

size_t RemoteConnectors::bytes() const {
  size_t bytes = 0;
  for (const Connector& connector : connectors_) {
    if (connector.memory != nullptr) bytes += sizeof(ConnectorMemory) + slotsOf(connector);
  }
  return bytes;
}

}  // namespace dfccl::gpu
