#pragma once
// The lines of an exchange: 16 bytes of wire, two LL words, 8 bytes of payload, which a worker writes or reads at once.
// The words are those of daemon/framing/ll.hpp, and each arrives whole.
#include "block/threads.cuh"
#include "daemon/framing/ll.hpp"
#include "daemon/state/exchange.hpp"

namespace dfccl::gpu {

// These accesses keep their order among themselves, and a vote or a barrier orders them with all others. They don't
// tell the compiler that memory changes: it would look up again, for each line, where the next one is.

inline constexpr uint32_t kLineBytes = 16;
inline constexpr uint32_t kLinePayload = 8;

__device__ inline void storeLine(uint8_t* to, uint64_t payload, uint32_t flag) {
  const uint64_t low = (payload & 0xffffffff) | uint64_t{flag} << 32;
  const uint64_t high = payload >> 32 | uint64_t{flag} << 32;
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1,%2};" ::"l"(to), "l"(low), "l"(high));
}

/// @return whether both words carry the flag.
__device__ inline bool loadLine(const uint8_t* from, uint32_t flag, uint64_t& payload) {
  uint64_t low, high;
  asm volatile("ld.relaxed.sys.global.v2.u64 {%0,%1}, [%2];" : "=l"(low), "=l"(high) : "l"(from));
  payload = (low & 0xffffffff) | high << 32;
  return static_cast<uint32_t>(low >> 32) == flag && static_cast<uint32_t>(high >> 32) == flag;
}

/// What is not a whole aligned line, byte by byte. Out of line, as all that is seldom needed: where a run takes
/// microseconds, the instructions between those that it does need are waited for, too.
__device__ __noinline__ inline uint64_t loadBytes(const uint8_t* from, uint32_t count) {
  uint64_t payload = 0;
#pragma unroll 1
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t byte;
    asm volatile("ld.volatile.global.u8 %0, [%1];" : "=r"(byte) : "l"(from + i));
    payload |= uint64_t{byte} << (8 * i);
  }
  return payload;
}

__device__ __noinline__ inline void storeBytes(uint8_t* to, uint32_t count, uint64_t payload) {
#pragma unroll 1
  for (uint32_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>(payload >> (8 * i));
}

/// Bytes of line `index` of a buffer of `bytes`.
__device__ inline uint32_t bytesOfLine(uint64_t index, uint64_t bytes) {
  const uint64_t left = bytes - index * kLinePayload;
  return left < kLinePayload ? static_cast<uint32_t>(left) : kLinePayload;
}

/// At device scope: the caller may have written it since this block last read it.
__device__ inline uint64_t loadWholeLine(const uint8_t* from) {
  uint64_t payload;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(payload) : "l"(from));
  return payload;
}

/// Line `index` of a caller's buffer of `bytes`.
__device__ inline uint64_t loadPayload(const void* buffer, uint64_t index, uint64_t bytes) {
  const uint8_t* from = static_cast<const uint8_t*>(buffer) + index * kLinePayload;
  const uint32_t count = bytesOfLine(index, bytes);
  if ((reinterpret_cast<uint64_t>(from) & 7) != 0 || count != kLinePayload) [[unlikely]]
    return loadBytes(from, count);
  return loadWholeLine(from);
}

/// Its counterpart, with an ordinary store.
__device__ inline void storePayload(void* buffer, uint64_t index, uint64_t bytes, uint64_t payload) {
  uint8_t* const to = static_cast<uint8_t*>(buffer) + index * kLinePayload;
  const uint32_t count = bytesOfLine(index, bytes);
  if ((reinterpret_cast<uint64_t>(to) & 7) != 0 || count != kLinePayload) [[unlikely]]
    return storeBytes(to, count, payload);
  *reinterpret_cast<uint64_t*>(to) = payload;
}

__device__ inline uint64_t linesOf(uint64_t bytes) { return (bytes + kLinePayload - 1) / kLinePayload; }

/// Sends this member's part to all others, beginning with the next one, so that not all write to the same. Several
/// lines are read at once, because each takes the better part of a microsecond.
__device__ inline void sendPartsInTeam(const Exchange& e, uint64_t bytes) {
  const uint32_t flag = Ll::flagOf(e.run);
  const uint64_t lines = linesOf(bytes);
  constexpr int kAtOnce = 4;
  for (uint64_t first = threadIdx.x; first < lines; first += kAtOnce * kWorkers) {
    uint64_t payload[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (first + i * kWorkers < lines) payload[i] = loadPayload(e.own, first + i * kWorkers, bytes);
    }
    for (uint32_t distance = 1; distance < e.members; ++distance) {
      const uint32_t to = e.member + distance < e.members ? e.member + distance : e.member + distance - e.members;
      uint8_t* const lineOf = e.outgoing(to) + first * kLineBytes;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (first + i * kWorkers < lines) storeLine(lineOf + i * kWorkers * kLineBytes, payload[i], flag);
      }
    }
  }
}

}  // namespace dfccl::gpu
