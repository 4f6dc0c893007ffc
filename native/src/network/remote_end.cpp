#include "network/remote_end.hpp"

#include <algorithm>
#include <cstring>

namespace dfccl {
namespace {

// A flag ends each line, and whoever looks reads it before what it vouches for.
void storeInWords(uint8_t* slot, std::span<const uint8_t> payload) {
  auto* words = reinterpret_cast<Atomic<uint64_t>*>(slot);
  for (size_t at = 0; at + sizeof(uint64_t) <= payload.size(); at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, payload.data() + at, sizeof word);
    words[at / sizeof word].store(word, order::release);
  }
}

}  // namespace

SlotBytes::SlotBytes(const BoundProgram& program, uint32_t connection)
    : protocol_(static_cast<Protocol>(program.header.protocol)) {
  const ConnectionRecord& c = program.connections[connection];
  const BlockRecord& block = program.blocks[c.block];
  for (uint32_t tile = 0; tile < program.tiles; ++tile) {
    const uint64_t elements = program.elementsOfTile({0, program.chunkElements}, tile);
    for (uint32_t i = 0; i < block.stepCount; ++i) {
      const StepRecord& step = program.steps[block.firstStep + i];
      if ((c.isSend != 0 ? step.sendConnection : step.recvConnection) != connection) continue;
      const uint64_t payload = elements * program.elementBytes() * step.count;
      // A bare signal is a line.
      perRun_.push_back(std::max(lineBytes(protocol_), wireBytes(protocol_, payload)));
    }
  }
}

size_t SlotBytes::at(uint64_t position, const Connector& connector) const {
  if (position >= connector.slotCount && fillsSlot(protocol_, position, connector.slotCount))
    return connector.slotBytes;
  return perRun_.empty() ? connector.slotBytes : perRun_[position % perRun_.size()];
}

bool RemoteEnd::put(uint64_t position, std::span<const uint8_t> payload) {
  const uint64_t head = connector.memory->head.load(order::acquire);
  if (isSend || payload.size() > connector.slotBytes || !done.isAhead(position)) return false;
  if (position - head >= connector.slotCount) return false;
  uint8_t* const slot = connector.slotAt(position);
  if (!isFramed(protocol)) {
    std::memcpy(slot, payload.data(), payload.size());
  } else {
    storeInWords(slot, payload);
  }
  done.mark(position);
  connector.memory->tail.store(done.end(), order::release);
  return true;
}

void RemoteEnd::free() {
  const uint64_t head = std::min(freed, done.end());
  if (head > connector.memory->head.load(order::relaxed)) connector.memory->head.store(head, order::release);
}

}  // namespace dfccl
