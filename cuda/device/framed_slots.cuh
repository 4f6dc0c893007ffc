#pragma once
// LL and LL128 slots, by all workers: the forms are those of daemon/state/connector.hpp.
#include "block_shared.cuh"
#include "daemon/state/connector.hpp"

namespace dfccl::gpu {

/// Looks that one vote takes before it says no: the messages of one exchange come within a microsecond or two.
inline constexpr int kLooksPerVote = 24;

__device__ inline uint64_t loadWord(const uint64_t* from) {
  uint64_t v;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
  return v;
}
__device__ inline void storeWord(uint64_t* to, uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

/// Up to 4 bytes of a payload whose length need not be a multiple of 4.
__device__ inline uint32_t payloadWord(const uint8_t* payload, uint64_t at, uint64_t bytes) {
  if (at + 4 <= bytes && (reinterpret_cast<uint64_t>(payload) & 3) == 0) {
    return *reinterpret_cast<const uint32_t*>(payload + at);
  }
  uint32_t word = 0;
  for (uint64_t i = 0; i < 4 && at + i < bytes; ++i) word |= uint32_t{payload[at + i]} << (8 * i);
  return word;
}
__device__ inline void setPayloadWord(uint8_t* payload, uint64_t at, uint64_t bytes, uint32_t word) {
  if (at + 4 <= bytes && (reinterpret_cast<uint64_t>(payload) & 3) == 0) {
    *reinterpret_cast<uint32_t*>(payload + at) = word;
    return;
  }
  for (uint64_t i = 0; i < 4 && at + i < bytes; ++i) payload[at + i] = static_cast<uint8_t>(word >> (8 * i));
}

namespace lines {

__device__ inline uint64_t wordsOf(Protocol protocol, uint64_t bytes) {
  if (protocol == Protocol::ll) return bytes == 0 ? 1 : (bytes + 3) / 4;
  return bytes == 0 ? 1 : (bytes + ll128::kData - 1) / ll128::kData;
}

/// Whether word (LL) or line (LL128) number `index` carries the flag of `position`.
__device__ inline bool hasFlag(Protocol protocol, const uint8_t* slot, uint64_t index, uint64_t position) {
  if (protocol == Protocol::ll) {
    const uint64_t word = loadWord(reinterpret_cast<const uint64_t*>(slot) + index);
    return static_cast<uint32_t>(word >> 32) == ll::flagOf(position);
  }
  return ll128::flagAt(const_cast<uint8_t*>(slot), index).load(order::acquire) == position + 1;
}

}  // namespace lines

__device__ inline bool hasArrivedInTeam(const TeamOrder& order) {
  const uint64_t words = lines::wordsOf(order.protocol, order.bytes);
  uint64_t i = threadIdx.x;
  for (int look = 0; i < words && look < kLooksPerVote; ++look) {
    while (i < words && lines::hasFlag(order.protocol, order.slot, i, order.position)) i += kWorkers;
  }
  return i >= words;
}

__device__ inline void packInTeam(const TeamOrder& order) {
  const uint64_t words = lines::wordsOf(order.protocol, order.bytes);
  if (order.protocol == Protocol::ll) {
    const uint64_t flag = uint64_t{ll::flagOf(order.position)} << 32;
    auto* slot = reinterpret_cast<uint64_t*>(order.slot);
    for (uint64_t i = threadIdx.x; i < words; i += kWorkers) {
      storeWord(slot + i, flag | payloadWord(order.payload, i * 4, order.bytes));
    }
    if (order.fill) {
      for (uint64_t i = words + threadIdx.x; i < order.slotBytes / 8; i += kWorkers) storeWord(slot + i, flag);
    }
    return;
  }
  for (uint64_t line = threadIdx.x; line < words; line += kWorkers) {
    for (uint32_t w = 0; w < ll128::kData / 4; ++w) {
      const uint64_t at = line * ll128::kData + w * 4;
      if (at >= order.bytes) break;
      reinterpret_cast<uint32_t*>(order.slot + line * ll128::kLine)[w] = payloadWord(order.payload, at, order.bytes);
    }
    ll128::flagAt(order.slot, line).store(order.position + 1, order::release);
  }
}

__device__ inline void unpackInTeam(const TeamOrder& order) {
  if (order.protocol == Protocol::ll) {
    const auto* slot = reinterpret_cast<const uint64_t*>(order.slot);
    for (uint64_t i = threadIdx.x; i * 4 < order.bytes; i += kWorkers) {
      setPayloadWord(order.payload, i * 4, order.bytes, static_cast<uint32_t>(loadWord(slot + i)));
    }
    return;
  }
  for (uint64_t w = threadIdx.x; w * 4 < order.bytes; w += kWorkers) {
    const uint64_t line = w / (ll128::kData / 4);
    const uint64_t inLine = w % (ll128::kData / 4);
    const uint32_t word = reinterpret_cast<const volatile uint32_t*>(order.slot + line * ll128::kLine)[inLine];
    setPayloadWord(order.payload, w * 4, order.bytes, word);
  }
}

}  // namespace dfccl::gpu
