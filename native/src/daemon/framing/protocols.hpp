#pragma once
// The table of protocols: how the bytes of a slot lie in memory, and how their receiver knows that they are there.
// Simple's slot is the payload, and the connector's counter says that it is there. The others cut a slot into lines
// that carry flags; each is a row below and a file beside this one, and all else asks here.
#include <cstdint>

#include "base/host_device.hpp"
#include "daemon/framing/framing_table.hpp"
#include "daemon/framing/ll.hpp"
#include "daemon/framing/ll128.hpp"

namespace dfccl {

/// Codes as encoded programs have them, so a new one comes last.
enum class Protocol : uint8_t { simple, ll, ll128 };

/// Those with lines, in the order of their codes.
using Framings = FramingTable<Ll, Ll128>;

inline constexpr uint32_t kProtocolCount = 1 + Framings::kCount;
static_assert(static_cast<uint32_t>(Protocol::ll128) + 1 == kProtocolCount);

DFCCL_HD constexpr bool isFramed(Protocol protocol) { return protocol != Protocol::simple; }

/// Lets `use` have the framing of a protocol. @pre isFramed(protocol)
template <class Use>
DFCCL_HD constexpr auto withFraming(Protocol protocol, const Use& use) {
  return Framings::use(static_cast<uint32_t>(protocol) - 1, use);
}

constexpr const char* nameOf(Protocol protocol) {
  if (!isFramed(protocol)) return "simple";
  return withFraming(protocol, [](auto framing) { return decltype(framing)::kName; });
}

/// Bytes of a line, which are the least that a message takes, a bare signal too. 0 where there are none.
constexpr uint64_t lineBytes(Protocol protocol) {
  if (!isFramed(protocol)) return 0;
  return withFraming(protocol, [](auto framing) { return decltype(framing)::kLineBytes; });
}

/// Bytes of wire that `payloadBytes` take in a slot.
constexpr uint64_t wireBytes(Protocol protocol, uint64_t payloadBytes) {
  if (!isFramed(protocol)) return payloadBytes;
  return withFraming(protocol, [=](auto framing) {
    using Framing = decltype(framing);
    return (payloadBytes + Framing::kDataBytes - 1) / Framing::kDataBytes * Framing::kLineBytes;
  });
}

/// Whether a sender fills the whole slot at a position, with flags behind its message.
constexpr bool fillsSlot(Protocol protocol, uint64_t position, uint32_t slotCount) {
  if (!isFramed(protocol) || !isFillDue(position, slotCount)) return false;
  return withFraming(protocol, [](auto framing) { return decltype(framing)::kFlagsRepeat; });
}

}  // namespace dfccl
