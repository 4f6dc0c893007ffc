#pragma once
// The binary form of programs that the engine builds itself: the same bytes as packages/primitives'
// src/binary/encode.ts.
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/program.hpp"

namespace dfccl {

inline constexpr uint32_t kSimpleSlotCount = 4;

template <class T>
void append(std::vector<uint8_t>& bytes, const T& record) {
  const auto* from = reinterpret_cast<const uint8_t*>(&record);
  bytes.insert(bytes.end(), from, from + sizeof record);
}

inline StepRecord emptyStep() {
  StepRecord s{};
  s.srcBuffer = s.dstBuffer = s.remoteBuffer = s.landingBuffer = static_cast<uint8_t>(BufferKind::none);
  s.sendConnection = s.recvConnection = kNone;
  return s;
}

inline void setDigest(std::vector<uint8_t>& program, uint64_t digest) {
  std::memcpy(program.data() + offsetof(ProgramHeader, digest), &digest, sizeof digest);
}

/// One rank's program, with the digest of all ranks': FNV-1a over their bytes.
template <class Encode>
std::vector<uint8_t> encodeOneOf(uint32_t rankCount, uint32_t rank, const Encode& encode) {
  uint64_t hash = 0xcbf29ce484222325;
  std::vector<uint8_t> mine;
  for (uint32_t r = 0; r < rankCount; ++r) {
    std::vector<uint8_t> bytes = encode(r);
    for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
    if (r == rank) mine = std::move(bytes);
  }
  setDigest(mine, hash);
  return mine;
}

}  // namespace dfccl
