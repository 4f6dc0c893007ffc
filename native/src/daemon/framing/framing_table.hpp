#pragma once
// What a protocol's framing must offer, and a list of framings to choose from at run time.
#include <concepts>
#include <cstdint>

#include "base/host_device.hpp"

namespace dfccl {

/// A slot of lines: data first, a flag last, which names the slot's position. Nothing that a former message left, nor
/// cleared memory, may look like it.
template <class F>
concept Framing = requires(uint8_t* slot, const uint8_t* looked, uint8_t* to, const uint8_t* from, uint64_t line,
                           uint64_t bytes, uint64_t position) {
  { F::kName } -> std::convertible_to<const char*>;
  { F::kDataBytes } -> std::convertible_to<uint64_t>;
  { F::kLineBytes } -> std::convertible_to<uint64_t>;                   // all of a line
  { F::kFlagsRepeat } -> std::convertible_to<bool>;                     // after 2^31 positions or more: isFillDue()
  { F::hasLine(looked, line, position) } -> std::convertible_to<bool>;  // is it there? acquires its data
  F::packLine(slot, line, from, bytes, position);  // up to kDataBytes; of a bare signal 0, from nowhere
  F::unpackLine(to, looked, line, bytes);          // @pre hasLine()
}
&&F::kLineBytes % 8 == 0 && 128 % F::kLineBytes == 0 && F::kDataBytes < F::kLineBytes;

/// A message is a line at least.
template <Framing F>
DFCCL_HD constexpr uint64_t messageLines(uint64_t payloadBytes) {
  return payloadBytes == 0 ? 1 : (payloadBytes + F::kDataBytes - 1) / F::kDataBytes;
}

/// A short message leaves old flags behind it. Where their values repeat, the sender fills the whole slot once in 2^30
/// positions, so no flag ever survives until its value comes round again.
DFCCL_HD constexpr bool isFillDue(uint64_t position, uint32_t slotCount) { return (position & 0x3fffffff) < slotCount; }

template <Framing First, Framing... Others>
struct FramingTable {
  static constexpr uint32_t kCount = 1 + sizeof...(Others);

  /// Calls `use` with the framing of that number. @pre index < kCount
  template <class Use>
  DFCCL_HD static constexpr auto use(uint32_t index, const Use& use) {
    if constexpr (sizeof...(Others) == 0) {
      return use(First{});
    } else {
      return index == 0 ? use(First{}) : FramingTable<Others...>::use(index - 1, use);
    }
  }
};

}  // namespace dfccl
