#pragma once
// LL: 8-byte words {4 bytes of data, 4 bytes of flag}; a word arrives whole, so data and flag need no order between
// them. The flag is the position's low 31 bits below a bit that is always set: cleared memory holds no flag, whatever
// the position.
#include <cstdint>
#include <cstring>

#include "base/atomics.hpp"

namespace dfccl {

struct Ll {
  static constexpr const char* kName = "ll";
  static constexpr uint64_t kDataBytes = 4;
  static constexpr uint64_t kLineBytes = 8;
  static constexpr bool kFlagsRepeat = true;

  DFCCL_HD static constexpr uint32_t flagOf(uint64_t position) { return static_cast<uint32_t>(position) | 0x80000000; }

  DFCCL_HD static bool hasLine(const uint8_t* slot, uint64_t line, uint64_t position) {
    return static_cast<uint32_t>(wordAt(slot, line).load(order::acquire) >> 32) == flagOf(position);
  }
  DFCCL_HD static void packLine(uint8_t* slot, uint64_t line, const uint8_t* data, uint64_t bytes, uint64_t position) {
    uint32_t word = 0;
    if (bytes != 0) std::memcpy(&word, data, bytes);
    const_cast<Word&>(wordAt(slot, line)).store(uint64_t{flagOf(position)} << 32 | word, order::release);
  }
  DFCCL_HD static void unpackLine(uint8_t* data, const uint8_t* slot, uint64_t line, uint64_t bytes) {
    const auto word = static_cast<uint32_t>(wordAt(slot, line).load(order::relaxed));
    std::memcpy(data, &word, bytes);
  }

 private:
  using Word = Atomic<uint64_t>;
  DFCCL_HD static const Word& wordAt(const uint8_t* slot, uint64_t line) {
    return reinterpret_cast<const Word*>(slot)[line];
  }
};

}  // namespace dfccl
