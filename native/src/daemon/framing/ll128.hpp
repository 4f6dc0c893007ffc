#pragma once
// LL128: lines of 120 bytes of data and an 8-byte flag. NCCL relies on 128-byte stores that arrive whole; here the flag
// is stored last with release and read first with acquire, which needs no such promise and costs nothing on x86.
#include <cstdint>
#include <cstring>

#include "base/atomics.hpp"

namespace dfccl {

struct Ll128 {
  static constexpr const char* kName = "ll128";
  static constexpr uint64_t kDataBytes = 120;
  static constexpr uint64_t kLineBytes = 128;
  static constexpr bool kFlagsRepeat = false;

  DFCCL_HD static Atomic<uint64_t>& flagAt(uint8_t* slot, uint64_t line) {
    return *reinterpret_cast<Atomic<uint64_t>*>(slot + line * kLineBytes + kDataBytes);
  }

  DFCCL_HD static bool hasLine(const uint8_t* slot, uint64_t line, uint64_t position) {
    return flagAt(const_cast<uint8_t*>(slot), line).load(order::acquire) == position + 1;
  }
  DFCCL_HD static void packLine(uint8_t* slot, uint64_t line, const uint8_t* data, uint64_t bytes, uint64_t position) {
    if (bytes != 0) std::memcpy(slot + line * kLineBytes, data, bytes);
    flagAt(slot, line).store(position + 1, order::release);
  }
  DFCCL_HD static void unpackLine(uint8_t* data, const uint8_t* slot, uint64_t line, uint64_t bytes) {
    std::memcpy(data, slot + line * kLineBytes, bytes);
  }
};

}  // namespace dfccl
