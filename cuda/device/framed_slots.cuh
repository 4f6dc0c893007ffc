#pragma once
// Slots of lines, by all workers: the forms are those of daemon/framing/. What LL and LL128 have of their own here
// makes them faster; a framing needs nothing here.
#include "block/block_shared.cuh"
#include "daemon/framing/protocols.hpp"

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

/// How the workers go about the lines of a framing: one line each, by the framing's own functions, ...
template <Framing F>
struct TeamLines {
  __device__ static bool hasLine(const uint8_t* slot, uint64_t line, uint64_t position) {
    return F::hasLine(slot, line, position);
  }
  __device__ static void pack(const TeamOrder& order) {
    const uint64_t lines = messageLines<F>(order.bytes);
    const uint64_t filled = F::kFlagsRepeat && order.fill ? order.slotBytes / F::kLineBytes : lines;
    for (uint64_t line = threadIdx.x; line < filled; line += kWorkers) {
      F::packLine(order.slot, line, order.payload + line * F::kDataBytes, bytesOf(order, line), order.position);
    }
  }
  __device__ static void unpack(const TeamOrder& order) {
    for (uint64_t line = threadIdx.x; line * F::kDataBytes < order.bytes; line += kWorkers) {
      F::unpackLine(order.payload + line * F::kDataBytes, order.slot, line, bytesOf(order, line));
    }
  }

 private:
  __device__ static uint64_t bytesOf(const TeamOrder& order, uint64_t line) {
    const uint64_t at = line * F::kDataBytes;
    if (at >= order.bytes) return 0;
    return order.bytes - at < F::kDataBytes ? order.bytes - at : F::kDataBytes;
  }
};

/// ... of LL without its words' order, which none of them needs, ...
template <>
struct TeamLines<Ll> {
  __device__ static bool hasLine(const uint8_t* slot, uint64_t line, uint64_t position) {
    const uint64_t word = loadWord(reinterpret_cast<const uint64_t*>(slot) + line);
    return static_cast<uint32_t>(word >> 32) == Ll::flagOf(position);
  }
  __device__ static void pack(const TeamOrder& order) {
    const uint64_t words = messageLines<Ll>(order.bytes);
    const uint64_t flag = uint64_t{Ll::flagOf(order.position)} << 32;
    auto* slot = reinterpret_cast<uint64_t*>(order.slot);
    for (uint64_t i = threadIdx.x; i < words; i += kWorkers) {
      storeWord(slot + i, flag | payloadWord(order.payload, i * 4, order.bytes));
    }
    if (order.fill) {
      for (uint64_t i = words + threadIdx.x; i < order.slotBytes / 8; i += kWorkers) storeWord(slot + i, flag);
    }
  }
  __device__ static void unpack(const TeamOrder& order) {
    const auto* slot = reinterpret_cast<const uint64_t*>(order.slot);
    for (uint64_t i = threadIdx.x; i * 4 < order.bytes; i += kWorkers) {
      setPayloadWord(order.payload, i * 4, order.bytes, static_cast<uint32_t>(loadWord(slot + i)));
    }
  }
};

/// ... of LL128 in words of 4 bytes, and unpacked by neighbours next to each other.
template <>
struct TeamLines<Ll128> {
  __device__ static bool hasLine(const uint8_t* slot, uint64_t line, uint64_t position) {
    return Ll128::hasLine(slot, line, position);
  }
  __device__ static void pack(const TeamOrder& order) {
    const uint64_t lines = messageLines<Ll128>(order.bytes);
    for (uint64_t line = threadIdx.x; line < lines; line += kWorkers) {
      for (uint32_t w = 0; w < Ll128::kDataBytes / 4; ++w) {
        const uint64_t at = line * Ll128::kDataBytes + w * 4;
        if (at >= order.bytes) break;
        reinterpret_cast<uint32_t*>(order.slot + line * Ll128::kLineBytes)[w] =
            payloadWord(order.payload, at, order.bytes);
      }
      Ll128::flagAt(order.slot, line).store(order.position + 1, order::release);
    }
  }
  __device__ static void unpack(const TeamOrder& order) {
    for (uint64_t w = threadIdx.x; w * 4 < order.bytes; w += kWorkers) {
      const uint64_t line = w / (Ll128::kDataBytes / 4);
      const uint64_t inLine = w % (Ll128::kDataBytes / 4);
      const uint32_t word = reinterpret_cast<const volatile uint32_t*>(order.slot + line * Ll128::kLineBytes)[inLine];
      setPayloadWord(order.payload, w * 4, order.bytes, word);
    }
  }
};

__device__ inline bool hasArrivedInTeam(const TeamOrder& order) {
  const uint64_t lines =
      withFraming(order.protocol, [&](auto framing) { return messageLines<decltype(framing)>(order.bytes); });
  const auto hasLine = [&](uint64_t line) {
    return withFraming(order.protocol, [&](auto framing) {
      return TeamLines<decltype(framing)>::hasLine(order.slot, line, order.position);
    });
  };
  uint64_t i = threadIdx.x;
  for (int look = 0; i < lines && look < kLooksPerVote; ++look) {
    while (i < lines && hasLine(i)) i += kWorkers;
  }
  return i >= lines;
}

__device__ inline void packInTeam(const TeamOrder& order) {
  withFraming(order.protocol, [&](auto framing) { TeamLines<decltype(framing)>::pack(order); });
}

__device__ inline void unpackInTeam(const TeamOrder& order) {
  withFraming(order.protocol, [&](auto framing) { TeamLines<decltype(framing)>::unpack(order); });
}

}  // namespace dfccl::gpu
