#include "network/remote_end.hpp"

#include <algorithm>
#include <cstring>

namespace dfccl {
namespace {

// Beyond that the transport gains nothing by larger messages, and whoever waits for the first slot waits longer.
constexpr uint64_t kMostMessageBytes = 256 << 10;

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

SlotRange RemoteEnd::nextRange(uint64_t tail) const {
  SlotRange slots{moved, 1};
  const uint64_t untilWrap = connector.slotCount - moved % connector.slotCount;
  const uint64_t most = std::min({tail - moved, untilWrap, uint64_t{Links::kMostSlots},
                                  std::max<uint64_t>(1, kMostMessageBytes / connector.slotBytes)});
  while (slots.count < most && bytes.at(moved + slots.count - 1, connector) == connector.slotBytes) ++slots.count;
  return slots;
}

std::span<const uint8_t> RemoteEnd::payloadOf(SlotRange slots) const {
  const uint64_t last = slots.first + slots.count - 1;
  return {connector.slotAt(slots.first), size_t{slots.count - 1} * connector.slotBytes + bytes.at(last, connector)};
}

bool RemoteEnd::put(SlotRange slots, std::span<const uint8_t> payload) {
  const uint64_t head = connector.memory->head.load(order::acquire);
  const size_t whole = connector.slotBytes;
  if (isSend || slots.count == 0 || slots.count > connector.slotCount) return false;
  if (payload.size() < (slots.count - 1) * whole || payload.size() > slots.count * whole) return false;
  bool isAny = false;
  for (uint32_t i = 0; i < slots.count; ++i) {
    const auto own = i + 1 < slots.count ? payload.subspan(i * whole, whole) : payload.subspan(i * whole);
    isAny |= putOne(slots.first + i, head, own);
  }
  if (isAny) connector.memory->tail.store(done.end(), order::release);
  return isAny;
}

bool RemoteEnd::putOne(uint64_t position, uint64_t head, std::span<const uint8_t> payload) {
  if (!done.isAhead(position) || position - head >= connector.slotCount) return false;
  uint8_t* const slot = connector.slotAt(position);
  if (!isFramed(protocol)) {
    std::memcpy(slot, payload.data(), payload.size());
  } else {
    storeInWords(slot, payload);
  }
  done.mark(position);
  return true;
}

void RemoteEnd::free() {
  const uint64_t head = std::min(freed, done.end());
  if (head > connector.memory->head.load(order::relaxed)) connector.memory->head.store(head, order::release);
}

}  // namespace dfccl
