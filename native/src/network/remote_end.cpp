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
    : protocol_(static_cast<Protocol>(program.header.protocol)), tiles_(program.tiles) {
  const ConnectionRecord& c = program.connections[connection];
  const BlockRecord& block = program.blocks[c.block];
  const ChunkRange chunk{0, program.chunkElements};
  const uint64_t whole = program.elementsOfTile(chunk, 0), last = program.elementsOfTile(chunk, tiles_ - 1);
  for (uint32_t i = 0; i < block.stepCount; ++i) {
    const StepRecord& step = program.steps[block.firstStep + i];
    if ((c.isSend != 0 ? step.sendConnection : step.recvConnection) != connection) continue;
    const auto bytesOf = [&](uint64_t elements) {
      // A bare signal is a line.
      return std::max(lineBytes(protocol_), wireBytes(protocol_, elements * program.elementBytes() * step.count));
    };
    perTile_.push_back({bytesOf(whole), bytesOf(last)});
  }
}

size_t SlotBytes::at(uint64_t position, const Connector& connector) const {
  if (position >= connector.slotCount && fillsSlot(protocol_, position, connector.slotCount))
    return connector.slotBytes;
  if (perTile_.empty()) return connector.slotBytes;
  const InTile& slot = perTile_[position % perTile_.size()];
  return position / perTile_.size() % tiles_ == tiles_ - 1 ? slot.last : slot.whole;
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
