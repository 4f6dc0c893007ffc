#pragma once
// Whole slots of lines, by one thread. GPUs' workers share them out (cuda/device/framed_slots.cuh).
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "daemon/framing/protocols.hpp"
#include "daemon/state/connector.hpp"

namespace dfccl {

/// @return the lines that the message took.
template <Framing F>
uint64_t packSlot(uint8_t* slot, const uint8_t* payload, size_t bytes, uint64_t position) {
  uint64_t line = 0;
  for (size_t at = 0; at < bytes; at += F::kDataBytes, ++line) {
    F::packLine(slot, line, payload + at, std::min<size_t>(F::kDataBytes, bytes - at), position);
  }
  // A bare signal has no payload, not even an address of one.
  if (bytes == 0) F::packLine(slot, line++, nullptr, 0, position);
  return line;
}

template <Framing F>
void fillSlot(uint8_t* slot, uint64_t firstLine, size_t slotBytes, uint64_t position) {
  for (uint64_t line = firstLine; line < slotBytes / F::kLineBytes; ++line)
    F::packLine(slot, line, nullptr, 0, position);
}

/// Has every line of the message arrived? Nothing is consumed before this holds for the whole slice.
template <Framing F>
bool hasSlotArrived(const uint8_t* slot, size_t bytes, uint64_t position) {
  for (uint64_t line = messageLines<F>(bytes); line-- > 0;) {
    if (!F::hasLine(slot, line, position)) return false;
  }
  return true;
}

template <Framing F>
void unpackSlot(uint8_t* payload, const uint8_t* slot, size_t bytes) {
  uint64_t line = 0;
  for (size_t at = 0; at < bytes; at += F::kDataBytes, ++line) {
    F::unpackLine(payload + at, slot, line, std::min<size_t>(F::kDataBytes, bytes - at));
  }
}

/// What platforms whose blocks are single threads offer the daemon (platform.hpp). @pre isFramed(protocol)
struct FramedSlots {
  static bool hasArrived(Protocol protocol, const Connector& from, size_t bytes) {
    const uint64_t position = from.receivePosition();
    return withFraming(protocol, [&](auto framing) {
      return hasSlotArrived<decltype(framing)>(from.slotAt(position), bytes, position);
    });
  }
  static void unpack(Protocol protocol, uint8_t* payload, uint8_t* slot, size_t bytes) {
    withFraming(protocol, [&](auto framing) { unpackSlot<decltype(framing)>(payload, slot, bytes); });
  }
  static void pack(Protocol protocol, const Connector& to, const uint8_t* payload, size_t bytes) {
    const uint64_t position = to.sendPosition();
    uint8_t* const slot = to.slotAt(position);
    withFraming(protocol, [&](auto framing) {
      using F = decltype(framing);
      const uint64_t lines = packSlot<F>(slot, payload, bytes, position);
      if (F::kFlagsRepeat && isFillDue(position, to.slotCount)) fillSlot<F>(slot, lines, to.slotBytes, position);
    });
  }
};

}  // namespace dfccl
